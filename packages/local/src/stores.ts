/** Prepares the Firestore for the installations of the functions. Part of the composition root `cloud.ts`. */
import { writeDevClient } from './dev-client.ts';
import type { FunctionStore } from './host/function-spec.ts';
import { indexesOf, mergedIndexes } from './indexes.ts';
import type { Setting, StandIns } from './stand-ins.ts';

/** Default location of runs, for functions run by firebase-tools, which does not pass on the declared location. */
export const undeclared = (env: Setting['env']): FunctionStore => ({
  database: env.FIRESTORE_DATABASE || '(default)',
  collectionPrefix: env.COLLECTION_PREFIX || 'gwi_',
});

interface PreparingStores {
  readonly setting: Setting;
  readonly firestore: StandIns['firestore'];
  /** Time of the machine, epoch ms. */
  readonly now: number;
}

/** Creates the indexes of all installations, and one key that is valid for all of them. */
export async function prepareStores(
  stores: readonly FunctionStore[],
  { setting, firestore, now }: PreparingStores,
): Promise<void> {
  const { projectId, dev, firebaseJson } = setting;
  const { host, local } = firestore;
  const needed = stores.flatMap(({ indexes }) => indexes ?? []);
  local?.useIndexes(mergedIndexes([...indexesOf(firebaseJson), ...needed]));
  const write = ({ database, collectionPrefix }: FunctionStore) =>
    writeDevClient({
      database,
      collectionPrefix,
      firestore: host,
      projectId,
      secret: dev.apiSecret,
      now,
    });
  await Promise.all(stores.map(write));
}
