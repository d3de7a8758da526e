import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Meter } from '../../../packages/local-firestore/src/meter.ts';
import { RecentHistory } from '../../../packages/local-firestore/src/service/transactions/recent-history.ts';
import { type Bench, PROJECT, startBench } from './support/client.ts';

let bench: Bench;
let now = 1_700_000_000_000;
beforeAll(async () => {
  bench = await startBench({ clock: () => now });
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.server.reset();
  bench.server.meter.reset();
});

const name = (path: string) => `projects/${PROJECT}/databases/(default)/documents/${path}`;

test('a run is billed for documents under its own and for those that carry its id', async () => {
  const { db, server } = bench;
  const batch = db.batch();
  batch.create(db.doc('gwi_runs/r1'), { status: 'running' });
  batch.create(db.doc('gwi_runs/r1/events/0000000001'), { seq: 1 });
  batch.create(db.doc('gwi_effects/k.1'), { runId: 'r1' });
  batch.create(db.doc('gwi_clients/c1'), { name: 'x' });
  await batch.commit();
  await db.getAll(db.doc('gwi_runs/r1'), db.doc('gwi_effects/k.1'), db.doc('gwi_runs/r1/steps/none'));
  await db.doc('gwi_effects/k.1').delete();
  expect(server.meter.run('r1')).toMatchObject({ writes: 3, reads: 3, deletes: 1, commits: 2 });
  expect(server.meter.run('r1')?.bytes).toBeGreaterThan(100);
  expect(server.meter.run('other')).toBeUndefined();
  expect(server.meter.snapshot().total).toMatchObject({ writes: 4, reads: 3, deletes: 1, commits: 2 });
});

test('a query is billed its results and skipped documents, an empty one a read, a count one per thousand', async () => {
  const { db, server } = bench;
  const batch = db.batch();
  for (let i = 0; i < 7; i++) batch.set(db.doc(`q/d${i}`), { i });
  await batch.commit();
  const reads = async (what: () => Promise<unknown>) => {
    const before = server.meter.snapshot().total.reads;
    await what();
    return server.meter.snapshot().total.reads - before;
  };
  expect(await reads(() => db.collection('q').get())).toBe(7);
  expect(await reads(() => db.collection('q').offset(2).limit(3).get())).toBe(5);
  expect(await reads(() => db.collection('q').where('i', '>', 99).get())).toBe(1);
  expect(await reads(() => db.collection('q').count().get())).toBe(1);
  expect(await reads(() => db.doc('q/missing').get())).toBe(1);
  expect(server.meter.snapshot().byCollection.q).toMatchObject({ writes: 7, reads: 15 });
});

test('a refused commit is counted as a call and not billed', async () => {
  const { db, server } = bench;
  await expect(db.doc('c/missing').update({ a: 1 })).rejects.toMatchObject({ code: 5 });
  expect(server.meter.snapshot().byCall.Commit).toEqual({ calls: 1, reads: 0, writes: 0, deletes: 0 });
});

test('the busiest ten seconds of a document are kept', async () => {
  const { db, server } = bench;
  for (const gap of [0, 1_000, 4_000, 6_000, 1_000, 20_000]) {
    now += gap;
    await db.doc('hot/d').set({ now });
  }
  // At 0, 1, 5 s: three. At 11, 12 s with 5 s still inside the window: three again.
  expect(server.meter.document(name('hot/d'))).toMatchObject({ writes: 6, maxWritesIn10s: 3 });
});

test('a snapshot is plain JSON', () => {
  const snapshot = bench.server.meter.snapshot();
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
});

test('beyond the limit the oldest documents are dropped, in the order in which they came', () => {
  const LIMIT = 50_000;
  const meter = new Meter(() => now);
  for (const round of [1, 2]) {
    const read = (i: number) => meter.read('GetDocument', `c/${round}.${i}`, undefined);
    for (let i = 0; i < LIMIT; i += 1) read(i);
    expect(meter.snapshot().dropped.documents).toBe(0);
    read(0);
    for (let i = 0; i < 5; i += 1) read(LIMIT + i);
    const { byDocument, dropped, total } = meter.snapshot();
    const kept = Object.keys(byDocument);
    expect(dropped.documents).toBe(5);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([LIMIT, `c/${round}.5`, `c/${round}.${LIMIT + 4}`]);
    expect(total.reads).toBe(LIMIT + 6);
    meter.reset();
  }
});

test('the newest replaced documents can be read as of an earlier moment, however many were dropped', () => {
  const LIMIT = 50_000;
  const history = new RecentHistory(0);
  for (let time = 1; time <= 3 * LIMIT; time += 1) {
    history.record(time, [{ name: `d${time}`, stored: undefined }]);
    if (time % 10_000 !== 0) continue;
    const horizon = Math.max(0, time - LIMIT);
    expect([history.reaches(horizon), history.reaches(horizon - 1)]).toEqual([true, false]);
    expect([...history.at(horizon).replaced()].length).toBe(time - horizon);
    expect([...history.at(time - 1).replaced()]).toEqual([[`d${time}`, undefined]]);
  }
});
