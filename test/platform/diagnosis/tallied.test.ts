import { Firestore } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lazyCommitChannel } from '../../../packages/cairn/src/platform/clients/commit-channel.ts';
import { firestoreClient } from '../../../packages/cairn/src/platform/clients/firestore.ts';
import { InstanceOperations } from '../../../packages/cairn/src/platform/diagnosis/instance-operations.ts';
import { tallied } from '../../../packages/cairn/src/platform/diagnosis/tallied.ts';
import { EncodedBatch } from '../../../packages/cairn/src/store/commits/encoded-batch.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { until } from '../../local/support.ts';

let server: FirestoreServer;
let db: Firestore;
let operations: InstanceOperations;

beforeAll(async () => {
  server = await startFirestoreServer({ storage: { kind: 'memory' } });
  process.env.METADATA_SERVER_DETECTION = 'none';
  process.env.FIRESTORE_EMULATOR_HOST = server.host;
});
beforeEach(() => {
  server.meter.reset();
  operations = new InstanceOperations({ now: Date.now });
  db = firestoreClient({ project: 'demo-tally', database: '(default)', tally: operations });
});
afterEach(() => db.terminate());
afterAll(() => server.stop());

test('the client counts what the service bills, for every call', async () => {
  const runs = db.collection('runs');
  await runs.doc('a').create({ n: 1 });
  await runs.doc('b').set({ n: 2 });
  await runs.doc('a').update({ n: 3 });
  await expect(runs.doc('a').create({ n: 1 })).rejects.toThrow(/ALREADY_EXISTS/);
  const seen: string[] = [];
  const stop = runs.orderBy('n').onSnapshot((snapshot) => {
    seen.push(...snapshot.docChanges().map(({ doc }) => doc.id));
  });
  await until(() => seen.length === 2, 'the listener');
  await runs.doc('f').set({ n: 8 });
  await until(() => seen.length === 3, 'the listener once more');
  stop();
  await runs.doc('a').get();
  await db.getAll(runs.doc('a'), runs.doc('b'), runs.doc('none'));
  await runs.orderBy('n').get();
  await runs.where('n', '==', 99).get();
  await runs.where('n', '>', 0).count().get();
  await db.runTransaction((transaction) => transaction.get(runs.orderBy('n')), { readOnly: true });
  await db.runTransaction(async (transaction) => {
    transaction.update(runs.doc('b'), { n: (await transaction.get(runs.doc('b'))).get('n') + 1 });
  });
  const batch = db.batch();
  batch.delete(runs.doc('a'));
  batch.set(runs.doc('c'), { n: 5 });
  await batch.commit();
  const channel = lazyCommitChannel({ project: 'demo-tally', emulator: server.host, tally: operations });
  const raw = new EncodedBatch(channel);
  raw.create('runs/d', { n: 6 });
  raw.set('runs/e', { n: 7 });
  await raw.commit();
  const { reads, writes, deletes } = server.meter.snapshot().total;
  expect(operations.total()).toEqual({ reads, writes, deletes });
  expect([reads > 10, writes, deletes]).toEqual([true, 8, 1]);
});

test('a client that sends by another path is refused at once, instead of being counted as free', () => {
  const other = Object.assign(new Firestore({ projectId: 'p' }), { requestStream: undefined });
  expect(() => tallied(other, operations)).toThrow(/changed how it sends requests/);
});
