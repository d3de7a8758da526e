import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lazyCommitChannel } from '../../packages/cairn/src/platform/clients/commit-channel.ts';
import { firestoreClient } from '../../packages/cairn/src/platform/clients/firestore.ts';
import { systemClock } from '../../packages/cairn/src/platform/clock.ts';
import { InstanceOperations } from '../../packages/cairn/src/platform/diagnosis/instance-operations.ts';
import { readSettings } from '../../packages/cairn/src/platform/settings/settings.ts';
import { storesOn } from '../../packages/cairn/src/platform/stores.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';
import { beginning } from '../conformance/support/run-fixture.ts';

const NAME = 'runs-eu';
const before = { ...process.env };
let server: FirestoreServer;

beforeAll(async () => {
  const indexesFile = fileURLToPath(new URL('../../firestore.indexes.json', import.meta.url));
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
  process.env.METADATA_SERVER_DETECTION = 'none';
  process.env.FIRESTORE_EMULATOR_HOST = server.host;
  process.env.GCLOUD_PROJECT = 'shop';
});
afterAll(async () => {
  process.env = before;
  await server.stop();
});

test('FIRESTORE_DATABASE names the database of every read and of every commit', async () => {
  process.env.FIRESTORE_DATABASE = NAME;
  const { project, database, firestoreHost } = readSettings({}, { drive: 'drive', driveAlone: 'driveAlone' });
  const tally = new InstanceOperations(systemClock);
  const storesIn = (id: string) => {
    const db = firestoreClient({ project, database: id, tally });
    const commits = lazyCommitChannel({ project, database: id, emulator: firestoreHost, tally });
    return { db, ...storesOn(db, { collectionPrefix: 'gwi_', shards: 16 }, commits) };
  };
  const named = storesIn(database);
  const other = storesIn('(default)');
  // A start uses the low-level client, a pause the other one.
  expect(await named.runs.start(beginning('run_1'))).toMatchObject({ kind: 'committed' });
  await named.config.write({ killSwitch: true, paused: new Map() }, undefined);
  expect((await named.runs.load('run_1'))?.state.id).toBe('run_1');
  expect((await named.config.read())?.config.killSwitch).toBe(true);
  expect(await other.runs.load('run_1')).toBeUndefined();
  expect(await other.config.read()).toBeUndefined();
  expect(server.meter.document(`projects/shop/databases/${NAME}/documents/gwi_runs/run_1`)?.writes).toBe(1);
  await Promise.all([named.db.terminate(), other.db.terminate()]);
});
