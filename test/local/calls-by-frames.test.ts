/** The Firestore client gets the same results by frames as over gRPC. */
import { FieldPath, FieldValue, Firestore, GeoPoint, Timestamp } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { callsByFrames } from '../../packages/cairn/src/platform/clients/calls-by-frames.ts';
import { Wire } from '../../packages/cairn/src/platform/clients/wire.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';

let server: FirestoreServer;
let byGrpc: Firestore;
let byFrames: Firestore;

beforeAll(async () => {
  server = await startFirestoreServer({ storage: { kind: 'memory' } });
  process.env.METADATA_SERVER_DETECTION = 'none';
  process.env.FIRESTORE_EMULATOR_HOST = server.host;
  byGrpc = new Firestore({ projectId: 'reads' });
  byFrames = callsByFrames(new Firestore({ projectId: 'reads' }), new Wire(server.host), {
    readMs: 120_000,
    commitMs: 120_000,
  });
});
afterAll(async () => {
  await Promise.all([byGrpc.terminate(), byFrames.terminate()]);
  await server.stop();
});

const VALUES = {
  text: 'ä€😀',
  empty: '',
  no: false,
  zero: 0,
  negative: -7,
  largest: Number.MAX_SAFE_INTEGER,
  smallest: Number.MIN_SAFE_INTEGER,
  fraction: -0.1,
  notANumber: Number.NaN,
  nothing: null,
  epoch: new Timestamp(0, 0),
  before: new Timestamp(-1, 999_999_000),
  bytes: Buffer.from([0, 255]),
  place: new GeoPoint(-1.5, 0),
  list: [1, 'two', null, { three: [] }],
  map: { 'a.b': { deeper: { none: {} } } },
};

test('documents have the same values and times as over gRPC', async () => {
  const read = async (db: Firestore) => {
    const all = db.collection('values');
    const found = await db.getAll(all.doc('a'), all.doc('missing'), all.doc('b'));
    return found.map((one) => [one.id, one.exists, one.data(), one.createTime, one.updateTime]);
  };
  await byGrpc.doc('values/a').set({ ...VALUES, itself: byGrpc.doc('values/a').path });
  await byGrpc.doc('values/b').set({});
  const found = await read(byFrames);
  expect(found).toEqual(await read(byGrpc));
  expect(found.map(([id, exists]) => [id, exists])).toEqual([
    ['a', true],
    ['missing', false],
    ['b', true],
  ]);
  expect(found[0]?.[2]).toMatchObject(VALUES);
});

test('queries, pages and counts return the same results as over gRPC', async () => {
  const batch = byGrpc.batch();
  for (let i = 0; i < 40; i += 1)
    batch.set(byGrpc.doc(`numbers/${i}`), { n: i, at: new Timestamp(i, 0), even: i % 2 === 0 });
  await batch.commit();
  const read = async (db: Firestore) => {
    const numbers = db.collection('numbers');
    const first = await numbers.where('even', '==', true).orderBy('n', 'desc').limit(7).get();
    const next = await numbers.orderBy('n').startAfter(first.docs.at(-1)).select('at').limitToLast(5).get();
    const none = await numbers.where('n', '>', 100).get();
    const named = await numbers.where(FieldPath.documentId(), 'in', ['3', '5']).get();
    const counted = await numbers.where('n', '>=', 10).count().get();
    const shown = [first, next, none, named].map(({ docs }) => docs.map((one) => [one.id, one.data()]));
    return [...shown, counted.data().count];
  };
  const found = await read(byFrames);
  expect(found).toEqual(await read(byGrpc));
  expect(found.map((one) => (typeof one === 'number' ? one : one.length))).toEqual([7, 5, 0, 2, 30]);
});

test('a transaction that read over frames fails if what it read has changed', async () => {
  const counter = byFrames.doc('counters/a');
  await counter.set({ n: 0 });
  const add = () =>
    byFrames.runTransaction(async (transaction) => {
      transaction.update(counter, { n: (await transaction.get(counter)).get('n') + 1 });
    });
  await Promise.all([add(), add(), add()]);
  expect((await counter.get()).get('n')).toBe(3);
});

test('a commit stores, answers and refuses the same as over gRPC', async () => {
  const write = async (db: Firestore, id: string) => {
    const one = db.doc(`written/${id}`);
    const created = await one.create({ ...VALUES, at: FieldValue.serverTimestamp(), gone: 1 });
    const before = await one.get();
    const changed = await one.update(
      { gone: FieldValue.delete(), zero: FieldValue.increment(2), 'map.x': 1 },
      { lastUpdateTime: created.writeTime },
    );
    const after = await one.get();
    expect([before.updateTime, after.updateTime]).toEqual([created.writeTime, changed.writeTime]);
    expect(before.get('at')).toEqual(created.writeTime);
    const refusals = [
      one.create({}),
      one.update({ n: 1 }, { lastUpdateTime: created.writeTime }),
      db.doc('written/none').update({ n: 1 }),
    ].map((refused) => refused.catch(({ code }: { code: number }) => code));
    const { at: _, ...stored } = after.data() ?? {};
    return [stored, await Promise.all(refusals)];
  };
  const byWire = await write(byFrames, 'a');
  expect(byWire).toEqual(await write(byGrpc, 'b'));
  expect(byWire[1]).toEqual([6, 9, 5]);
});

test('a read that is refused or cut fails with the status of gRPC', async () => {
  await byGrpc.doc('broken/a').set({ n: 1 });
  await byGrpc.doc('broken/b').set({ n: 2 });
  await expect(byFrames.collection('broken').doc('__reserved__').get()).rejects.toMatchObject({ code: 3 });
  const cut = { kind: 'cut-stream', afterMessages: 1 } as const;
  server.faults.set([{ call: 'BatchGetDocuments', probability: 1, fault: cut }], 0);
  await expect(byFrames.getAll(byFrames.doc('broken/a'), byFrames.doc('broken/b'))).rejects.toMatchObject({
    code: 14,
  });
  server.faults.clear();
});

test('a client that does not send frames is refused at once', () => {
  const other = Object.assign(new Firestore({ projectId: 'p' }), { requestStream: undefined });
  expect(() => callsByFrames(other, new Wire('127.0.0.1:1'))).toThrow(/changed how it sends requests/);
  const another = Object.assign(new Firestore({ projectId: 'p' }), { request: undefined });
  expect(() => callsByFrames(another, new Wire('127.0.0.1:1'))).toThrow(/changed how it sends requests/);
});
