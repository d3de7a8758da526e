import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FieldPath, Filter, type Firestore, type Query, type QuerySnapshot } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { SqliteStorage } from '../../../packages/local-firestore/src/storage/sqlite-storage.ts';
import { answer, type Doc, type Question } from './support/brute-force.ts';
import { type Bench, startBench } from './support/client.ts';
import { Chooser, FIELDS, randomDocs, randomQuestion } from './support/random-queries.ts';
import { toQuery } from './support/to-query.ts';

const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
/** `QUERY_ROUNDS=13` before the command runs thousands of queries. */
const ROUNDS = Number(process.env.QUERY_ROUNDS ?? 1);
const DOCS = 60;
const QUESTIONS = 200;
const AT_ONCE = 25;

let plain: Bench;
let indexed: Bench;
const folder = mkdtempSync(join(tmpdir(), 'cairn-queries-'));

beforeAll(async () => {
  plain = await startBench();
  const indexesFile = join(folder, 'firestore.indexes.json');
  writeFileSync(indexesFile, JSON.stringify(everyIndex()));
  indexed = await startBench({ indexesFile });
});
afterAll(async () => {
  await Promise.all([plain.stop(), indexed.stop()]);
  rmSync(folder, { recursive: true });
});

describe('a query returns the same as a full scan', () => {
  let answered = 0;
  let nonEmpty = 0;
  let byComposite = 0;

  test.each(Array.from({ length: ROUNDS }, (_, seed) => seed))(
    'documents and queries of seed %i',
    async (seed) => {
      const choose = new Chooser(seed);
      const docs = randomDocs(choose, plain.db, DOCS);
      for (const bench of [plain, indexed]) {
        bench.server.reset();
        await write(bench.db, docs);
      }
      const questions = Array.from({ length: QUESTIONS }, () => {
        const group = choose.chance(0.3);
        return { group, question: randomQuestion(choose, plain.db, inScope(docs, group)) };
      });
      const check = async ({ group, question }: { group: boolean; question: Question }) => {
        const expected = answer(inScope(docs, group), question);
        const label = JSON.stringify({ seed, group, question });
        const outcome = await ask(plain.db, group, question);
        if (outcome === INVALID_ARGUMENT) return;
        expect({ label, paths: outcome }).toEqual({ label, paths: expected });
        answered++;
        if (expected.length > 0) nonEmpty++;
        const strict = await ask(indexed.db, group, question);
        if (strict === FAILED_PRECONDITION) return;
        expect({ label, paths: strict }).toEqual({ label, paths: expected });
        byComposite++;
      };
      for (let i = 0; i < questions.length; i += AT_ONCE)
        await Promise.all(questions.slice(i, i + AT_ONCE).map(check));
    },
  );

  test('the comparison ran for hundreds of queries, most with results, most also with enforced indexes', () => {
    expect(answered).toBeGreaterThan(ROUNDS * QUESTIONS * 0.9);
    expect(answered + byComposite).toBeGreaterThan(ROUNDS * QUESTIONS * 1.5);
    expect(nonEmpty).toBeGreaterThan(answered * 0.5);
  });
});

describe('a query', () => {
  test('with limitToLast and a document as cursor pages both ways', async () => {
    const { db } = plain;
    plain.server.reset();
    await write(
      db,
      Array.from({ length: 30 }, (_, i) => ({ path: `p/d${i}`, data: { k: i % 7 } })),
    );
    const query = db.collection('p').orderBy('k', 'desc');
    const all = ids(await query.get());
    const forward: string[] = [];
    for (let last = (await query.limit(4).get()).docs; last.length > 0; ) {
      forward.push(...last.map((d) => d.id));
      last = (await query.startAfter(last.at(-1)).limit(4).get()).docs;
    }
    expect(forward).toEqual(all);
    expect(ids(await query.limitToLast(5).get())).toEqual(all.slice(-5));
    const middle = (await db.doc(`p/${all[10]}`).get()) as never;
    expect(ids(await query.endBefore(middle).limitToLast(3).get())).toEqual(all.slice(7, 10));
  });

  test('returns the projected fields only, or none', async () => {
    const { db } = plain;
    await db.doc('s/one').set({ a: 1, b: { c: 2, d: 3 }, e: 4 });
    expect((await db.collection('s').select('a', 'b.c').get()).docs[0]?.data()).toEqual({
      a: 1,
      b: { c: 2 },
    });
    expect((await db.collection('s').select().get()).docs[0]?.data()).toEqual({});
  });

  test('counts, sums and averages', async () => {
    const { db } = plain;
    await write(
      db,
      [1, 2.5, 'x', null].map((v, i) => ({ path: `agg/d${i}`, data: { v } })),
    );
    const { AggregateField } = await import('@google-cloud/firestore');
    const result = await db
      .collection('agg')
      .aggregate({
        n: AggregateField.count(),
        sum: AggregateField.sum('v'),
        mean: AggregateField.average('v'),
      })
      .get();
    expect(result.data()).toEqual({ n: 4, sum: 3.5, mean: 1.75 });
    expect((await db.collection('agg').limit(3).count().get()).data()).toEqual({ count: 3 });
  });

  test('finds NaN by equality and in order, and never in a range of numbers', async () => {
    const { db } = plain;
    const values = [Number.NaN, Number.NEGATIVE_INFINITY, -1, 2];
    await write(
      db,
      values.map((v, i) => ({ path: `nan/d${i}`, data: { v } })),
    );
    const c = db.collection('nan');
    const cases: [Query, string[]][] = [
      [c.where('v', '<=', 2), ['d1', 'd2', 'd3']],
      [c.where('v', '<', 2).orderBy('v', 'desc'), ['d2', 'd1']],
      [c.where('v', '>=', Number.NEGATIVE_INFINITY), ['d1', 'd2', 'd3']],
      [c.where('v', '==', Number.NaN), ['d0']],
      [c.where('v', '!=', 2), ['d0', 'd1', 'd2']],
      [c.where('v', 'not-in', [2, -1]), ['d0', 'd1']],
      [c.orderBy('v').limit(1), ['d0']],
    ];
    for (const [i, [query, found]] of cases.entries()) {
      expect({ i, found: ids(await query.get()) }).toEqual({ i, found });
    }
  });

  test('finds neither null nor NaN with in', async () => {
    const { db } = plain;
    const values = [null, Number.NaN, 7, [null], [Number.NaN, 7]];
    await write(
      db,
      values.map((v, i) => ({ path: `list/d${i}`, data: { v } })),
    );
    const c = db.collection('list');
    const cases: [Query, string[]][] = [
      [c.where('v', 'in', [null]), []],
      [c.where('v', 'in', [Number.NaN, 7, null]), ['d2']],
      [c.where('v', 'in', [[null], [Number.NaN, 7]]), ['d3', 'd4']],
      [c.where('v', 'not-in', [Number.NaN]), ['d2', 'd3', 'd4']],
      [c.where('v', 'not-in', [null, 7]), []],
      [c.where('v', 'array-contains-any', [null, Number.NaN]), []],
      [c.where('v', 'array-contains-any', [null, 7]), ['d4']],
      [c.where('v', '==', null), ['d0']],
    ];
    for (const [i, [query, found]] of cases.entries()) {
      expect({ i, found: ids(await query.get()) }).toEqual({ i, found });
    }
  });

  test('compares names, in a collection and in a group', async () => {
    const { db } = plain;
    plain.server.reset();
    await write(
      db,
      ['n/a', 'n/b', 'n/c', 'n/b/n/x', 'm/z/n/y'].map((path) => ({ path, data: { even: path < 'n/b' } })),
    );
    const id = FieldPath.documentId();
    const n = db.collection('n');
    const g = db.collectionGroup('n');
    const cases: [Query, string[]][] = [
      [n.where(id, '==', 'b'), ['n/b']],
      [n.where(id, 'in', ['c', 'a', 'missing']), ['n/a', 'n/c']],
      [n.where(id, '>', 'a').where(id, '<=', 'c'), ['n/b', 'n/c']],
      [n.where(id, '>=', 'b').orderBy(id, 'desc'), ['n/c', 'n/b']],
      [n.where(id, '!=', 'b'), ['n/a', 'n/c']],
      [n.where('even', '==', false).where(id, '>', 'b'), ['n/c']],
      [g.where(id, '>', db.doc('n/b')), ['n/b/n/x', 'n/c']],
      [g.orderBy(id, 'desc').limit(2), ['n/c', 'n/b/n/x']],
      [g.orderBy(id).startAfter(db.doc('n/b')).limit(1), ['n/b/n/x']],
      [g.where(id, 'in', [db.doc('m/z/n/y'), db.doc('n/a')]), ['m/z/n/y', 'n/a']],
    ];
    for (const [i, [query, paths]] of cases.entries()) {
      expect({ i, paths: (await query.get()).docs.map((d) => d.ref.path) }).toEqual({ i, paths });
    }
  });

  test('with not-in and or finds what either branch finds', async () => {
    const { db } = plain;
    const data = [{ a: 1, b: 0 }, { a: 2, b: 1 }, { a: 3, b: 2 }, { a: 1, b: 3 }, { a: 2 }];
    await write(
      db,
      data.map((fields, i) => ({ path: `ornot/d${i}`, data: fields })),
    );
    const c = db.collection('ornot');
    const either = Filter.or(Filter.where('a', '==', 2), Filter.where('b', 'not-in', [2, 3]));
    // Ordered by b, so the document without it is not found.
    expect(ids(await c.where(either).get())).toEqual(['d0', 'd1']);
    const both = Filter.and(
      Filter.where('b', 'not-in', [0]),
      Filter.or(Filter.where('a', '==', 1), Filter.where('a', '==', 3)),
    );
    expect(ids(await c.where(both).get())).toEqual(['d2', 'd3']);
  });

  test('by name and by inequality is served only if the name is in an inequality too', async () => {
    const c = plain.db.collection('namerule');
    await write(plain.db, [
      { path: 'namerule/a', data: { k: 1 } },
      { path: 'namerule/b', data: { k: 2 } },
    ]);
    const id = FieldPath.documentId();
    const byName = [c.where(id, '==', 'a'), c.where(id, 'in', ['a', 'b'])];
    for (const refused of [...byName, c.where('k', '==', 1).where(id, '==', 'a')])
      await expect(refused.where('k', '!=', 42).get()).rejects.toMatchObject({ code: INVALID_ARGUMENT });
    expect(ids(await c.where('k', '!=', 42).where(id, '>', 'a').where(id, '==', 'b').get())).toEqual(['b']);
    expect(ids(await c.where('k', '==', 2).where(id, '==', 'b').get())).toEqual(['b']);
  });

  test('costs its result, not its collection', async () => {
    const file = join(folder, 'large.sqlite');
    const large = await startBench({ storage: { kind: 'sqlite', file } });
    const scans = jest.spyOn(SqliteStorage.prototype, 'scanEntries');
    for (let first = 0; first < 5_000; first += 500) {
      await write(
        large.db,
        Array.from({ length: 500 }, (_, i) => ({ path: `big/d${first + i}`, data: { n: first + i } })),
      );
    }
    const c = large.db.collection('big');
    for (const query of [
      c.where('n', '>', 2_000).limit(5),
      c.orderBy('n', 'desc').limit(5),
      c.where('n', '==', 77),
    ]) {
      scans.mockClear();
      await query.get();
      const rows = scans.mock.results.reduce((total, { value }) => total + (value as unknown[]).length, 0);
      expect(rows).toBeLessThanOrEqual(16);
    }
    scans.mockRestore();
    await large.stop();
  });

  test('lists collections and documents, including those that only have descendants', async () => {
    const { db } = plain;
    plain.server.reset();
    await write(
      db,
      ['r/a', 'r/b/s/x', 'r/c/s/y/t/z', 'q/a/b/c'].map((path) => ({ path, data: {} })),
    );
    expect((await db.listCollections()).map((c) => c.id)).toEqual(['q', 'r']);
    expect((await db.doc('r/c').listCollections()).map((c) => c.id)).toEqual(['s']);
    expect((await db.collection('r').listDocuments()).map((d) => d.id)).toEqual(['a', 'b', 'c']);
    await db.recursiveDelete(db.collection('r'));
    expect((await db.listCollections()).map((c) => c.id)).toEqual(['q']);
  });
});

function inScope(docs: readonly Doc[], group: boolean): Doc[] {
  return docs.filter(({ path }) => {
    const segments = path.split('/');
    return group ? segments.at(-2) === 'c' : segments.length === 2 && segments[0] === 'c';
  });
}

async function ask(db: Firestore, group: boolean, question: Question): Promise<string[] | number> {
  const query = toQuery(db, { collectionId: 'c', group }, question);
  if (!query) return INVALID_ARGUMENT;
  try {
    return (await query.get()).docs.map((d) => d.ref.path);
  } catch (error) {
    const { code } = error as { code?: number };
    if (code === INVALID_ARGUMENT || code === FAILED_PRECONDITION) return code;
    throw error;
  }
}

function ids(snapshot: QuerySnapshot): string[] {
  return snapshot.docs.map((d) => d.id);
}

async function write(db: Firestore, docs: readonly Doc[]): Promise<void> {
  const batch = db.batch();
  for (const { path, data } of docs) batch.set(db.doc(path), data);
  await batch.commit();
}

/** Every composite of the fields in use, up to two of them, and all single-field indexes for groups. */
function everyIndex(): object {
  const orders = ['ASCENDING', 'DESCENDING'];
  const lists: object[][] = [];
  for (const first of FIELDS) {
    for (const second of FIELDS) {
      if (first === second) continue;
      for (const x of orders) for (const y of orders) lists.push([by(first, x), by(second, y)]);
      for (const y of orders) lists.push([{ fieldPath: first, arrayConfig: 'CONTAINS' }, by(second, y)]);
    }
    for (const y of orders) lists.push([{ fieldPath: first, arrayConfig: 'CONTAINS' }, by(first, y)]);
  }
  const scopes = ['COLLECTION', 'COLLECTION_GROUP'];
  const kinds = [{ order: 'ASCENDING' }, { order: 'DESCENDING' }, { arrayConfig: 'CONTAINS' }];
  return {
    indexes: scopes.flatMap((queryScope) =>
      lists.map((fields) => ({ collectionGroup: 'c', queryScope, fields })),
    ),
    fieldOverrides: FIELDS.map((fieldPath) => ({
      collectionGroup: 'c',
      fieldPath,
      indexes: scopes.flatMap((queryScope) => kinds.map((k) => ({ ...k, queryScope }))),
    })),
  };
}

function by(fieldPath: string, order: string): object {
  return { fieldPath, order };
}
