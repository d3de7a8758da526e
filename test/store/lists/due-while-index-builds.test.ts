import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Firestore, Timestamp } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { firestoreIndexes } from '../../../packages/cairn/src/indexes.ts';
import { FirestoreScheduleStore } from '../../../packages/cairn/src/store/firestore-schedule-store.ts';
import { RunLists } from '../../../packages/cairn/src/store/lists/run-lists.ts';
import { Paths } from '../../../packages/cairn/src/store/paths.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';

/** A database with exemptions whose composite indexes are still being built, as after a first deployment. */
const folder = mkdtempSync(join(tmpdir(), 'cairn-unbuilt-'));
let server: FirestoreServer;
let db: Firestore;
let lists: RunLists;

const runs = () => db.collection('gwi_runs');
const at = (ms: number) => Timestamp.fromMillis(ms);

beforeAll(async () => {
  process.env.METADATA_SERVER_DETECTION = 'none';
  const indexesFile = join(folder, 'indexes.json');
  writeFileSync(indexesFile, JSON.stringify({ ...firestoreIndexes('gwi_'), indexes: [] }));
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
  const [host = '', port] = server.host.split(':');
  db = new Firestore({ projectId: 'p', host: `${host}:${port}`, ssl: false });
  lists = new RunLists(new Paths(db));
});
afterAll(async () => {
  await db.terminate();
  await server.stop();
  rmSync(folder, { recursive: true });
});

test('runs whose time has come are found in their order while their index is being built', async () => {
  await runs()
    .doc('late')
    .set({ shard: 1, wakeAt: at(3_000) });
  await runs()
    .doc('not-yet')
    .set({ shard: 2, wakeAt: at(9_000) });
  await runs()
    .doc('early')
    .set({ shard: 3, wakeAt: at(1_000) });
  await runs().doc('ended').set({ shard: 4 });
  await expect(runs().where('shard', 'in', [1, 3]).where('wakeAt', '<=', at(5_000)).get()).rejects.toThrow();
  const found = await lists.dueRuns(5_000, 10);
  expect(found.map(({ runId, wakeAt }) => [runId, wakeAt])).toEqual([
    ['early', 1_000],
    ['late', 3_000],
  ]);
  const first = await lists.dueRuns(5_000, 1);
  expect(first.map(({ runId }) => runId)).toEqual(['early']);
  const rest = await lists.dueRuns(5_000, 10, first[0]);
  expect(rest.map(({ runId }) => runId)).toEqual(['late']);
});

test('due schedules are found too, paused ones are not', async () => {
  const schedules = db.collection('gwi_schedules');
  await schedules.doc('a').set({ id: 'a', state: 'active', nextAt: at(2_000) });
  await schedules.doc('b').set({ id: 'b', state: 'paused', nextAt: at(1_000) });
  await schedules.doc('c').set({ id: 'c', state: 'active', nextAt: at(8_000) });
  expect(await new FirestoreScheduleStore(db).due(5_000, 10)).toEqual([{ id: 'a', nextAt: 2_000 }]);
});
