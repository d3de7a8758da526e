/** Content of `firestore.indexes.json` for an installation: indexes, exemptions from indexing, TTL policies. Pure. */
import { type CollectionNames, collectionNames } from './collections.ts';
import { COMPOSITES, EXPIRING, INDEXED_ALONE, MEMBERS } from './members.ts';

/** The members of `firestore.indexes.json`. */
export interface FirestoreIndexes {
  readonly indexes: readonly CompositeIndex[];
  readonly fieldOverrides: readonly FieldOverride[];
}

export interface CompositeIndex {
  readonly collectionGroup: string;
  readonly queryScope: 'COLLECTION';
  readonly fields: readonly IndexedField[];
}

export type IndexedField =
  | { readonly fieldPath: string; readonly order: 'ASCENDING' | 'DESCENDING' }
  | { readonly fieldPath: string; readonly arrayConfig: 'CONTAINS' };

export interface FieldOverride {
  readonly collectionGroup: string;
  readonly fieldPath: string;
  readonly ttl?: true;
  readonly indexes: readonly { readonly order: 'ASCENDING'; readonly queryScope: 'COLLECTION' }[];
}

/**
 * All entries name collections of this prefix, so they can be added to those of an app.
 *
 * @param prefix of the installation's collections: `gwi_` for functions that are exported by their own names, `cairn_` for
 * `export const cairn = cairnFunctions(…)`
 *
 * @throws Error for an invalid prefix
 */
export function firestoreIndexes(prefix: string): FirestoreIndexes {
  const names = collectionNames(prefix);
  const collections = Object.keys(MEMBERS) as (keyof CollectionNames)[];
  return {
    indexes: collections.flatMap((collection) =>
      (COMPOSITES[collection] ?? []).map((fields) => ({
        collectionGroup: names[collection],
        queryScope: 'COLLECTION' as const,
        fields: fields.split(' ').map(indexedField),
      })),
    ),
    fieldOverrides: collections.flatMap((collection) =>
      MEMBERS[collection].map((fieldPath) => ({
        collectionGroup: names[collection],
        fieldPath,
        ...(EXPIRING[collection]?.includes(fieldPath) ? { ttl: true as const } : {}),
        indexes: INDEXED_ALONE[collection]?.includes(fieldPath) ? [ALONE] : [],
      })),
    ),
  };
}

const ALONE = { order: 'ASCENDING', queryScope: 'COLLECTION' } as const;

function indexedField(text: string): IndexedField {
  const fieldPath = text.replace(/^[-@]/, '');
  if (text.startsWith('@')) return { fieldPath, arrayConfig: 'CONTAINS' };
  return { fieldPath, order: text.startsWith('-') ? 'DESCENDING' : 'ASCENDING' };
}
