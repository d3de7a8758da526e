import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { listenTo, listenToDocument, nobodyListens } from './seen.ts';

let bench: Bench;
const folder = mkdtempSync(join(tmpdir(), 'cairn-listen-'));

beforeAll(async () => {
  const indexesFile = join(folder, 'firestore.indexes.json');
  writeFileSync(indexesFile, JSON.stringify({ indexes: [], fieldOverrides: [] }));
  bench = await startBench({ indexesFile });
});
afterAll(async () => {
  await nobodyListens(bench.server);
  await bench.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => bench.server.faults.clear());

describe('a listener of a document', () => {
  test('sees that it is missing, then each change, then its deletion', async () => {
    const ref = bench.db.doc('one/a');
    const seen = listenToDocument(ref);
    await seen.until((all) => all.length === 1);
    await ref.set({ v: 1 });
    await seen.until((all) => all.length === 2);
    await ref.update({ v: 2 });
    await seen.until((all) => all.length === 3);
    await ref.delete();
    await seen.until((all) => all.length === 4);
    expect(seen.all.map(({ data }) => data)).toEqual([undefined, { v: 1 }, { v: 2 }, undefined]);
    seen.stop();
  });

  test('gets no event for other documents, or for a write that changes nothing', async () => {
    const ref = bench.db.doc('one/b');
    await ref.set({ v: 1 });
    const seen = listenToDocument(ref);
    await seen.until((all) => all.length === 1);
    await bench.db.doc('one/c').set({ v: 1 });
    await ref.set({ v: 1 });
    await ref.set({ v: 2 });
    await seen.until((all) => all.length === 2);
    expect(seen.all.map(({ data }) => data)).toEqual([{ v: 1 }, { v: 2 }]);
    seen.stop();
  });
});

describe('a listener of a query', () => {
  test('sees documents enter and leave its window', async () => {
    const { db } = bench;
    const list = db.collection('window');
    for (const i of [1, 2, 3, 4]) await list.doc(`d${i}`).set({ i });
    const seen = listenTo(list.orderBy('i').limit(2));
    await seen.until((all) => all.length === 1);
    await list.doc('d0').set({ i: 0 });
    await seen.until((all) => all.length === 2);
    await list.doc('d1').delete();
    await seen.until((all) => all.length === 3);
    await list.doc('d0').update({ i: 9 });
    await seen.until((all) => all.length === 4);
    expect(seen.all.map(({ paths }) => paths.map((p) => p.slice(-2)))).toEqual([
      ['d1', 'd2'],
      ['d0', 'd1'],
      ['d0', 'd2'],
      ['d2', 'd3'],
    ]);
    expect(seen.all[1]?.changes).toEqual(['removed window/d2', 'added window/d0']);
    seen.stop();
  });

  test('sees each commit atomically', async () => {
    const { db } = bench;
    const list = db.collection('whole');
    const seen = listenTo(list);
    await seen.until((all) => all.length === 1);
    const rounds = 20;
    for (let round = 1; round <= rounds; round++) {
      const batch = db.batch();
      for (const id of ['a', 'b', 'c']) batch.set(list.doc(id), { round });
      await batch.commit();
    }
    await seen.until((all) => (all.at(-1)?.data[0] as { round?: number })?.round === rounds);
    for (const { data } of seen.all.slice(1)) {
      expect(data).toHaveLength(3);
      expect(new Set(data.map((d) => (d as { round: number }).round)).size).toBe(1);
    }
    seen.stop();
  });

  test('of a collection group sees documents at every depth', async () => {
    const { db } = bench;
    const seen = listenTo(db.collectionGroup('deep'));
    await seen.until((all) => all.length === 1);
    await db.doc('deep/a').set({});
    await db.doc('x/y/deep/b').set({});
    await db.doc('x/y/deeper/c').set({});
    await db.doc('x/y/z/z/deep/d').set({});
    await seen.until((all) => all.at(-1)?.paths.length === 3);
    expect(seen.last?.paths).toEqual(['deep/a', 'x/y/deep/b', 'x/y/z/z/deep/d']);
    seen.stop();
  });

  test('that needs a missing index is refused with the declaration of the index', async () => {
    const query = bench.db.collection('unindexed').where('a', '==', 1).orderBy('b');
    const error = await listenTo(query).refusal();
    expect(error.message).toMatch(
      /Error 9: The query requires an index\. .* or add to firestore\.indexes\.json/,
    );
  });

  test('that selects fields is refused', async () => {
    const error = await listenTo(bench.db.collection('selected').select('a')).refusal();
    expect(error.message).toMatch(/Error 3: .*select/);
  });
});

test('a listener that stops is forgotten by the server', async () => {
  await nobodyListens(bench.server);
  const seen = [listenTo(bench.db.collection('left')), listenToDocument(bench.db.doc('left/a'))];
  for (const one of seen) await one.until((all) => all.length === 1);
  expect(bench.server.listening()).toBe(2);
  for (const one of seen) one.stop();
  await nobodyListens(bench.server);
});

describe('after its stream is cut', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'after %i messages, a listener is shown what is new and nothing twice',
    async (n) => {
      const { db, server } = bench;
      const list = db.collection(`cut${n}`);
      for (const id of ['a', 'b']) await list.doc(id).set({ v: 0 });
      const cut = { kind: 'cut-stream', afterMessages: n } as const;
      server.faults.set([{ call: 'Listen', probability: 1, times: 1, fault: cut }], 1);
      const seen = listenTo(list);
      await seen.until((all) => all.length === 1);
      await list.doc('c').set({ v: 0 });
      await list.doc('a').update({ v: 1 });
      await list.doc('b').delete();
      await seen.until((all) => all.at(-1)?.paths.join() === `cut${n}/a,cut${n}/c`);
      await list.doc('d').set({ v: 0 });
      await seen.until((all) => all.at(-1)?.paths.length === 3);
      seen.stop();
      const changes = seen.all.flatMap((s) => s.changes);
      expect(changes.filter((c) => c.startsWith('added'))).toHaveLength(4);
      expect(changes.filter((c) => c.startsWith('removed'))).toEqual([`removed cut${n}/b`]);
      expect(changes.filter((c) => c.startsWith('modified')).length).toBeLessThanOrEqual(1);
      expect(server.faults.injected()).toEqual({ 'cut-stream': 1 });
    },
  );

  test('by a reset of all documents, a listener sees them removed', async () => {
    const { db, server } = bench;
    const list = db.collection('wiped');
    await list.doc('a').set({});
    const seen = listenTo(list);
    await seen.until((all) => all.length === 1);
    server.reset();
    await seen.until((all) => all.at(-1)?.paths.length === 0);
    await list.doc('b').set({});
    await seen.until((all) => all.at(-1)?.paths.join() === 'wiped/b');
    seen.stop();
  });
});

test('a listener over SQLite resumes after the server has come back', async () => {
  const file = join(folder, 'resumed.sqlite');
  const first = await startBench({ storage: { kind: 'sqlite', file } });
  const port = Number(first.server.host.split(':')[1]);
  const list = first.db.collection('again');
  await list.doc('a').set({ v: 1 });
  const seen = listenTo(list);
  await seen.until((all) => all.length === 1);
  await first.server.stop();
  const second = await startBench({ storage: { kind: 'sqlite', file }, port });
  await second.db.doc('again/b').set({ v: 1 });
  await seen.until((all) => all.at(-1)?.paths.length === 2);
  expect(seen.all.flatMap((s) => s.changes)).toEqual(['added again/a', 'added again/b']);
  seen.stop();
  await nobodyListens(second.server);
  await Promise.all([first.db.terminate(), second.stop()]);
});
