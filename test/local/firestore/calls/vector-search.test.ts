import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FieldValue, type Firestore, type Query, type VectorQuery } from '@google-cloud/firestore';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readIndexConfig } from '../../../../packages/local-firestore/src/model/index/index-config.ts';
import { neighbourhood } from '../../../../packages/local-firestore/src/model/query/nearest.ts';
import type { Value } from '../../../../packages/local-firestore/src/model/value.ts';
import { startBench } from '../support/client.ts';
import { setRawBench } from '../support/raw-bench.ts';
import { query as rawQuery, text, vector as vectorField } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
const UNIMPLEMENTED = 12;

const bench = setRawBench();
beforeEach(() => bench.server.reset());

const v = (...numbers: number[]) => FieldValue.vector(numbers);

async function fill(db: Firestore, documents: Record<string, object>): Promise<void> {
  const batch = db.batch();
  for (const [id, data] of Object.entries(documents)) batch.set(db.doc(`v/${id}`), data);
  await batch.commit();
}

const near = (
  from: Query,
  measure: 'EUCLIDEAN' | 'COSINE' | 'DOT_PRODUCT' = 'EUCLIDEAN',
  more: object = {},
) =>
  from.findNearest({
    vectorField: 'at',
    queryVector: [10, 10],
    limit: 1_000,
    distanceMeasure: measure,
    ...more,
  });
const ids = async (search: VectorQuery) => (await search.get()).docs.map((d) => d.id);

const PLACES = { a: { at: v(1, 1) }, b: { at: v(10, 0) }, c: { at: v(20, 0) }, d: { at: v(100, 100) } };

describe('results are ordered by distance', () => {
  test.each([
    ['EUCLIDEAN' as const, ['b', 'a', 'c', 'd']],
    ['COSINE' as const, ['a', 'd', 'b', 'c']],
    ['DOT_PRODUCT' as const, ['d', 'c', 'b', 'a']],
  ])('by %s', async (measure, order) => {
    await fill(bench.db, PLACES);
    const all = bench.db.collection('v');
    expect(await ids(near(all, measure))).toEqual(order);
    expect(await ids(near(all, measure, { limit: 2 }))).toEqual(order.slice(0, 2));
  });

  test('for any candidates: the requested number, in order, and no omitted one is nearer', () => {
    const point = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 2, maxLength: 2 });
    const measures = fc.constantFrom('euclidean' as const, 'cosine' as const, 'dotProduct' as const);
    fc.assert(
      fc.property(fc.array(point, { maxLength: 20 }), point, measures, (points, target, measure) => {
        const candidates = points.map((p, i) => ({ name: `n${i}`, fields: new Map([['at', asValue(p)]]) }));
        const nearest = {
          field: ['at'],
          vector: target,
          measure,
          threshold: undefined,
          resultField: undefined,
        };
        const all = neighbourhood({ ...nearest, limit: 1_000 }, candidates).neighbours;
        const few = neighbourhood({ ...nearest, limit: 3 }, candidates).neighbours;
        expect(few).toEqual(all.slice(0, 3));
        const distances = all.map((n) => (measure === 'dotProduct' ? -n.distance : n.distance));
        const defined = distances.filter((d) => !Number.isNaN(d));
        expect(defined).toEqual([...defined].sort((a, b) => a - b));
        const undefinedOnes = distances.filter((d) => Number.isNaN(d));
        const isFirst = measure === 'dotProduct';
        expect(distances).toEqual(isFirst ? [...undefinedOnes, ...defined] : [...defined, ...undefinedOnes]);
        const exact = (p: number[]) =>
          Math.sqrt(p.reduce((sum, x, i) => sum + (x - (target[i] ?? 0)) ** 2, 0));
        if (measure === 'euclidean') expect(distances).toEqual(points.map(exact).sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });
});

function asValue(numbers: readonly number[]): Value {
  const values = numbers.map((value): Value => ({ kind: 'double', value }));
  const fields = new Map<string, Value>([
    ['__type__', { kind: 'string', value: '__vector__' }],
    ['value', { kind: 'array', values }],
  ]);
  return { kind: 'map', fields };
}

test('documents without a vector of that dimension are skipped, those without a distance are the farthest', async () => {
  await fill(bench.db, {
    ...PLACES,
    none: {},
    list: { at: [10, 10] },
    word: { at: 'x' },
    nothing: { at: null },
    short: { at: v(10) },
    long: { at: v(10, 10, 10) },
    zero: { at: v(0, 0) },
    far: { at: v(Number.POSITIVE_INFINITY, 0) },
  });
  const all = bench.db.collection('v');
  expect(await ids(near(all))).toEqual(['b', 'a', 'c', 'zero', 'd', 'far']);
  expect(await ids(near(all, 'COSINE'))).toEqual(['a', 'd', 'b', 'c', 'far', 'zero']);
  expect(await ids(near(all, 'COSINE', { distanceThreshold: 2 }))).toEqual(['a', 'd', 'b', 'c']);
  expect(await ids(near(all, 'EUCLIDEAN', { vectorField: 'other' }))).toEqual([]);
});

test('a threshold keeps results at least as similar', async () => {
  await fill(bench.db, PLACES);
  const all = bench.db.collection('v');
  expect(await ids(near(all, 'EUCLIDEAN', { distanceThreshold: 10 }))).toEqual(['b']);
  expect(await ids(near(all, 'COSINE', { distanceThreshold: 0.1 }))).toEqual(['a', 'd']);
  expect(await ids(near(all, 'DOT_PRODUCT', { distanceThreshold: 200 }))).toEqual(['d', 'c']);
});

test("the distances are those of production, as its clients' own tests have them, to the last digit", async () => {
  const { db } = bench;
  await fill(db, {
    a: { at: v(1, 2, 3) },
    b: { at: v(2, 2, 3) },
    c: { at: v(3, 4, 5) },
    d: { at: v(1e-200, 0, 0) },
  });
  const found = async (measure: 'EUCLIDEAN' | 'COSINE', distanceThreshold: number) => {
    const more = { queryVector: [1, 2, 3], distanceThreshold, distanceResultField: 'd' };
    return (await near(db.collection('v'), measure, more).get()).docs.map((d) => [d.id, d.get('d')]);
  };
  expect(await found('EUCLIDEAN', 1)).toEqual([
    ['a', 0],
    ['b', 1],
  ]);
  expect(await found('COSINE', 0.02)).toEqual([
    ['a', 0],
    ['c', 0.017292370176009153],
  ]);
  expect((await found('COSINE', 1)).at(-1)).toEqual(['d', expect.closeTo(1 - 1 / Math.sqrt(14), 12)]);
});

test('the distance is in the named field, which a projection may omit', async () => {
  await fill(bench.db, { a: { at: v(10, 7), kind: 'x', far: { away: 1 } } });
  const all = bench.db.collection('v');
  const distances = async (from: Query, distanceResultField: string) =>
    (await near(from, 'EUCLIDEAN', { distanceResultField }).get()).docs.map((d) => d.data());
  expect(await distances(all, 'distance')).toEqual([
    { at: v(10, 7), kind: 'x', far: { away: 1 }, distance: 3 },
  ]);
  expect(await distances(all, 'kind')).toMatchObject([{ kind: 3 }]);
  expect(await distances(all.select('kind'), 'distance')).toEqual([{ kind: 'x' }]);
  expect(await distances(all.select('kind', 'distance'), 'distance')).toEqual([{ kind: 'x', distance: 3 }]);
  // A name, not a path.
  expect(await distances(all.select('kind'), 'far.distance')).toEqual([{ kind: 'x' }]);
  expect(await distances(all, 'far.distance')).toMatchObject([{ far: { away: 1 }, 'far.distance': 3 }]);
  expect((await bench.db.doc('v/a').get()).data()).not.toHaveProperty('distance');
});

test('filters choose the candidates: equal, in, ranges, or, nested fields, a group', async () => {
  const { db } = bench;
  await fill(db, {
    ...PLACES,
    e: { at: v(10, 10), kind: 'x', n: 1 },
    f: { at: v(11, 11), kind: 'y', n: 2 },
    g: { in: { at: v(9, 9) } },
  });
  await db.doc('v/e/v/deep').set({ at: v(10, 11) });
  const all = db.collection('v');
  expect(await ids(near(all.where('kind', '==', 'y')))).toEqual(['f']);
  expect(await ids(near(all.where('kind', 'in', ['y', 'x'])))).toEqual(['e', 'f']);
  expect(await ids(near(all.where('n', '>', 1)))).toEqual(['f']);
  expect(await ids(near(all.orderBy('n', 'desc')))).toEqual(['e', 'f']);
  expect(await ids(near(all, 'EUCLIDEAN', { vectorField: 'in.at' }))).toEqual(['g']);
  expect((await ids(near(db.collectionGroup('v')))).slice(0, 2)).toEqual(['e', 'deep']);
});

test('a search is billed its results and a read for each hundred vectors compared', async () => {
  const { db, server } = bench;
  const batch = db.batch();
  for (let i = 0; i < 155; i++) batch.set(db.doc(`v/n${i}`), { at: v(i, i), kind: i % 2 });
  for (let i = 0; i < 50; i++) batch.set(db.doc(`v/other${i}`), { at: v(i) });
  await batch.commit();
  const reads = async (search: VectorQuery) => {
    const before = server.meter.snapshot().total.reads;
    await search.get();
    return server.meter.snapshot().total.reads - before;
  };
  const all = db.collection('v');
  expect(await reads(near(all, 'EUCLIDEAN', { limit: 5 }))).toBe(5 + 2);
  expect(await reads(near(all.where('kind', '==', 0), 'EUCLIDEAN', { limit: 5 }))).toBe(5 + 1);
  expect(await reads(near(all, 'EUCLIDEAN', { vectorField: 'none' }))).toBe(1);
});

describe('with declared indexes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-vectors-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const withIndexes = (indexes: readonly object[]) => {
    const indexesFile = join(folder, `${files++}.json`);
    writeFileSync(indexesFile, JSON.stringify({ indexes }));
    return startBench({ indexesFile });
  };
  const MISSING = /^9 FAILED_PRECONDITION: Missing vector index configuration\..* under indexes: (\{.*\})$/s;

  test.each<[string, (db: Firestore) => VectorQuery]>([
    ['of all', (db) => near(db.collection('v'))],
    [
      'of some',
      (db) =>
        near(
          db
            .collection('v')
            .where('tags', 'array-contains', 't')
            .where('kind', 'in', ['x', 'y'])
            .where('n', '>', 0),
        ),
    ],
    ['of a group', (db) => near(db.collectionGroup('v'))],
  ])('a search %s is refused until what the refusal names is declared', async (_what, search) => {
    const bare = await withIndexes([{ collectionGroup: 'v', fields: vectorDeclared('at', 3) }]);
    const refusal: Error & { code: number } = await search(bare.db)
      .get()
      .catch((error) => error);
    await bare.stop();
    expect(refusal.code).toBe(FAILED_PRECONDITION);
    const [, json] = MISSING.exec(refusal.message) as unknown as [string, string];
    const declared = await withIndexes([JSON.parse(json)]);
    await fill(declared.db, { a: { at: v(1, 1), kind: 'x', n: 1, tags: ['t'] }, b: { at: v(1, 1) } });
    expect((await ids(search(declared.db)))[0]).toBe('a');
    await declared.stop();
  });

  test('index fields with equality filters can be in any order, with the name between them and the vector', async () => {
    const plain = ['n', 'kind', '__name__'].map((fieldPath) => ({ fieldPath, order: 'ASCENDING' }));
    const own = await withIndexes([{ collectionGroup: 'v', fields: [...plain, ...vectorDeclared('at', 2)] }]);
    const both = own.db.collection('v').where('kind', '==', 'x').where('n', '==', 1);
    expect(await ids(near(both))).toEqual([]);
    const one = near(own.db.collection('v').where('kind', '==', 'x')).get();
    await expect(one).rejects.toMatchObject({ code: FAILED_PRECONDITION });
    await own.stop();
  });

  test.each<[string, object[], RegExp]>([
    ['two vectors', [...vectorDeclared('a', 2), ...vectorDeclared('b', 2)], /two vector fields/],
    ['no dimension', [{ fieldPath: 'a', vectorConfig: { flat: {} } }], /"dimension" of 1 to 2048/],
    ['too many dimensions', vectorDeclared('a', 2_049), /"dimension" of 1 to 2048/],
    ['another kind than flat', [{ fieldPath: 'a', vectorConfig: { dimension: 2 } }], /needs "flat"/],
    ['a field without an order', [{ fieldPath: 'b' }, ...vectorDeclared('a', 2)], /needs "order"/],
  ])('a declaration with %s is refused', (_what, fields, message) => {
    const file = { indexes: [{ collectionGroup: 'v', fields: fields as never }] };
    expect(() => readIndexConfig(file)).toThrow(message);
  });
});

function vectorDeclared(fieldPath: string, dimension: number): object[] {
  return [{ fieldPath, vectorConfig: { dimension, flat: {} } }];
}

const two = [{ doubleValue: 1 }, { doubleValue: 2 }];
const search = (more: object) => ({
  findNearest: {
    vectorField: { fieldPath: 'at' },
    queryVector: Object.values(vectorField(two))[0],
    distanceMeasure: 'EUCLIDEAN',
    limit: { value: 3 },
    ...more,
  },
});

test.each<[string, number, object]>([
  ['no limit', INVALID_ARGUMENT, search({ limit: null })],
  ['a limit of nothing', INVALID_ARGUMENT, search({ limit: { value: 0 } })],
  ['a limit over 1,000', INVALID_ARGUMENT, search({ limit: { value: 1_001 } })],
  ['no measure', INVALID_ARGUMENT, search({ distanceMeasure: 0 })],
  ['no field', INVALID_ARGUMENT, search({ vectorField: null })],
  ['no vector', INVALID_ARGUMENT, search({ queryVector: null })],
  ['a list for a vector', INVALID_ARGUMENT, search({ queryVector: { arrayValue: { values: two } } })],
  ['a text for a vector', INVALID_ARGUMENT, search({ queryVector: text('x') })],
  ['a vector of nothing', INVALID_ARGUMENT, search({ queryVector: Object.values(vectorField([]))[0] })],
  ['a reserved name for the distance', INVALID_ARGUMENT, search({ distanceResultField: '__d__' })],
  [
    'a vector of integers',
    INVALID_ARGUMENT,
    search({ queryVector: Object.values(vectorField([{ integerValue: 1 }]))[0] }),
  ],
  ['a threshold that is no number', INVALID_ARGUMENT, search({ distanceThreshold: { value: Number.NaN } })],
  ['a limit of the query', INVALID_ARGUMENT, { ...search({}), limit: { value: 2 } }],
  ['an offset', INVALID_ARGUMENT, { ...search({}), offset: 2 }],
  ['a cursor', INVALID_ARGUMENT, { ...search({}), startAt: { before: true } }],
  ['every collection', UNIMPLEMENTED, { ...search({}), from: [{ allDescendants: true }] }],
])('a search with %s is refused', async (_what, code, structuredQuery) => {
  expect(await bench.raw.call('RunQuery', rawQuery(structuredQuery))).toMatchObject({ code });
});

test('an aggregation refuses a vector search', async () => {
  const { parent, structuredQuery } = rawQuery(search({}));
  const aggregation = { structuredQuery, aggregations: [{ count: {} }] };
  const answer = await bench.raw.call('RunAggregationQuery', {
    parent,
    structuredAggregationQuery: aggregation,
  });
  expect(answer).toMatchObject({ code: UNIMPLEMENTED });
});
