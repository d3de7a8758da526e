/** Location of an installation's runs. No two installations of a codebase may share one. */
import { type FirestoreIndexes, firestoreIndexes } from '../../store/layout/indexes.ts';
import { collectionPrefixOf } from '../settings/collection-prefix.ts';
import { database } from '../settings/parameters.ts';
import type { CairnInstallation } from './installation.ts';

interface StoreLocation {
  readonly database: string;
  readonly collectionPrefix: string;
}

/** @param drive the deployed name of the function `drive` */
function locationOf({ options }: CairnInstallation, drive: string): StoreLocation {
  return {
    database: options.database ?? database.value(),
    collectionPrefix: collectionPrefixOf(options.collectionPrefix, drive),
  };
}

/** The local cloud reads it, to write the development key there and to create the indexes in its Firestore. */
const LOCATION = Symbol.for('cairn:store-location');

/** Attached to the function `drive`, because it depends on the deployed name of that function. */
export function locateStore(installation: CairnInstallation): void {
  const locate = (drive: string): StoreLocation & { readonly indexes: FirestoreIndexes } => {
    const location = locationOf(installation, drive);
    return { ...location, indexes: firestoreIndexes(location.collectionPrefix) };
  };
  Object.assign(installation.members.drive as object, { [LOCATION]: locate });
}

interface NamedInstallation {
  readonly installation: CairnInstallation;
  /** The deployed name of the function `drive`; undefined if it is not exported. */
  readonly drive: string | undefined;
}

/** @throws Error if two of them would dispatch each other's runs */
export function assertApart(installations: readonly NamedInstallation[]): void {
  const taken = new Map<string, string>();
  for (const { installation, drive } of installations) {
    if (drive === undefined) continue;
    const { database: id, collectionPrefix } = locationOf(installation, drive);
    const place = `${id} ${collectionPrefix}`;
    const other = taken.get(place);
    if (other !== undefined)
      throw new Error(
        `the installations of '${other}' and '${drive}' both use the database '${id}' with the prefix ` +
          `'${collectionPrefix}'. Give one of them another collectionPrefix or database`,
      );
    taken.set(place, drive);
  }
}
