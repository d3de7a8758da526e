import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AggregateField, FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sum } from '../../../../packages/local-firestore/src/model/query/sum.ts';
import { type Bench, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { database as root } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;

const folder = mkdtempSync(join(tmpdir(), 'cairn-aggregation-'));
let plain: Bench;
let indexed: Bench;
let raw: RawCalls;
/** Client that distinguishes integers from doubles. */
let exact: Firestore;

beforeAll(async () => {
  plain = await startBench();
  raw = new RawCalls(plain.server.host);
  exact = plain.client();
  exact.settings({ useBigInt: true });
  const indexesFile = join(folder, 'firestore.indexes.json');
  const fields = ['kind', 'n'].map((fieldPath) => ({ fieldPath, order: 'ASCENDING' }));
  writeFileSync(
    indexesFile,
    JSON.stringify({ indexes: [{ collectionGroup: 'items', queryScope: 'COLLECTION', fields }] }),
  );
  indexed = await startBench({ indexesFile });
  await Promise.all([plain, indexed].map(fill));
});
afterAll(async () => {
  raw.close();
  await Promise.all([plain.stop(), indexed.stop()]);
  rmSync(folder, { recursive: true });
});

/** The order of names is the reverse of that of numbers, so that limits select different documents. */
async function fill({ db }: Bench): Promise<void> {
  const batch = db.batch();
  for (let n = 0; n < 8; n++) batch.set(db.doc(`items/d${9 - n}`), { n, kind: n % 2, other: 1 });
  batch.set(db.doc('items/without'), { kind: 0, other: 1 });
  await batch.commit();
}

const items = (bench: Bench) => bench.db.collection('items');
const ofN = {
  sum: AggregateField.sum('n'),
  mean: AggregateField.average('n'),
  count: AggregateField.count(),
};

async function over(query: Query): Promise<unknown> {
  return (await query.aggregate(ofN).get()).data();
}

describe('a summed or averaged field', () => {
  test('orders the query, so that a limit keeps the smallest values', async () => {
    expect(await over(items(plain).limit(3))).toEqual({ sum: 3, mean: 1, count: 3 });
    expect(await over(items(plain).where('kind', '==', 1).limit(2))).toEqual({ sum: 4, mean: 2, count: 2 });
    expect(await over(items(plain).offset(6))).toEqual({ sum: 13, mean: 6.5, count: 2 });
  });

  test('does not change explicit orders', async () => {
    expect(await over(items(plain).orderBy('n', 'desc').limit(2))).toEqual({ sum: 13, mean: 6.5, count: 2 });
    const byName = items(plain).orderBy('n').orderBy(FieldPath.documentId());
    expect(await over(byName.limit(3))).toEqual({ sum: 3, mean: 1, count: 3 });
    const odd = items(plain).orderBy('kind', 'desc');
    expect(await over(odd.limit(2))).toEqual({ sum: 12, mean: 6, count: 2 });
  });

  test('excludes documents without it, also from counts, in any order', async () => {
    for (const query of [items(plain), items(plain).orderBy('n').orderBy(FieldPath.documentId())]) {
      expect(await over(query)).toEqual({ sum: 28, mean: 3.5, count: 8 });
    }
    expect((await items(plain).count().get()).data()).toEqual({ count: 9 });
  });

  test('must be an order before the name, because no index has fields after it', async () => {
    const name = FieldPath.documentId();
    const refused = { code: INVALID_ARGUMENT, message: expect.stringContaining('fields [n] after __name__') };
    const byName = [
      items(plain).orderBy(name),
      items(plain).orderBy('kind').orderBy(name),
      items(plain).where(name, '==', 'd1'),
      items(plain).where(name, '>', 'd1').orderBy('kind'),
      items(plain).where('n', '==', 1).orderBy(name),
    ];
    for (const query of byName) {
      await expect(over(query)).rejects.toMatchObject(refused);
      expect((await query.count().get()).data()).toEqual({ count: expect.any(Number) });
    }
  });

  test('cannot be combined with a projection, which a count can', async () => {
    for (const fields of [['n'], ['n', 'kind'], []]) {
      const query = items(plain).select(...fields);
      await expect(over(query)).rejects.toMatchObject({ code: INVALID_ARGUMENT });
      expect((await query.count().get()).data()).toEqual({ count: 9 });
    }
  });

  test('is the last field of the required index', async () => {
    expect(await over(items(indexed))).toEqual({ sum: 28, mean: 3.5, count: 8 });
    expect(await over(items(indexed).where('kind', '==', 1))).toEqual({ sum: 16, mean: 4, count: 4 });
    const declared = { code: FAILED_PRECONDITION, message: expect.stringContaining('"other","order":"ASC') };
    await expect(over(items(indexed).where('other', '==', 1))).rejects.toMatchObject(declared);
    const two = items(indexed).aggregate({ n: AggregateField.sum('n'), other: AggregateField.sum('other') });
    await expect(two.get()).rejects.toMatchObject(declared);
  });
});

describe('the sum of', () => {
  const max = 2n ** 63n - 1n;
  const { MAX_VALUE, MIN_VALUE } = Number;

  /** An integer is a bigint here, a double a number. */
  test.each([
    ['no values is the integer 0, and their average null', [], 0n, null],
    ['integers is exact, though a part of it leaves 64 bits', [max, 1n, -101n], max - 100n, 2 ** 63 / 3],
    ['integers beyond 64 bits is a double', [max, max], 2 ** 64, 2 ** 63],
    ['an integer and a double is a double', [5n, 4.5, 3.5], 13, 13 / 3],
    ['numbers ignores all other values, also in an average', [5n, '3', 6n], 11n, 5.5],
    ['the greatest doubles is infinite', [MAX_VALUE, 1e293], Infinity, Infinity],
    ['infinities of both signs is NaN', [Infinity, -Infinity], NaN, NaN],
    ['NaN and anything is NaN', [5n, NaN], NaN, NaN],
    ['the least double stays, its half is 0', [MIN_VALUE, 0n], MIN_VALUE, 0],
    ['weights rounds once, at the end', [4.8, 5.9, 6.0, 7.1, 8.2], 32, 6.4],
  ] as const)('%s', async (title, values, sum, mean) => {
    const numbers = exact.collection(`numbers, whose sum of ${title}`);
    await Promise.all(values.map((n, i) => numbers.doc(`d${i}`).set({ n })));
    expect(await over(numbers)).toEqual({ sum, mean, count: BigInt(values.length) });
  });
});

test('the sum of prices is the double nearest to it, in every order', () => {
  const prices = fc.array(
    fc.integer({ min: -99_999, max: 99_999 }).map((cents) => cents / 100),
    { minLength: 1 },
  );
  /** Doubles of this size are multiples of 2^-64. */
  const whole = (price: number) => BigInt(price * 2 ** 64);
  fc.assert(
    fc.property(prices, (values) => {
      const nearest = Number(values.map(whole).reduce((total, price) => total + price)) / 2 ** 64;
      expect(sum(values)).toEqual({ kind: 'double', value: nearest });
      expect(sum(values.toReversed())).toEqual({ kind: 'double', value: nearest });
    }),
  );
});

test('an aggregation without an alias gets a numbered one', async () => {
  const { messages } = await aggregate(
    'items',
    [{}, { alias: 'mine' }, {}].map((a) => ({ ...a, count: {} })),
  );
  const { aggregateFields } = (messages[0] as { result: { aggregateFields: object } }).result;
  expect(Object.keys(aggregateFields).sort()).toEqual(['field_1', 'field_2', 'mine']);
});

test.each([
  ['a reserved name', [{ alias: '__a__', count: {} }], 'reserved'],
  ['no aggregation', [], 'Aggregations can not be empty'],
  ['six of them', Array.from({ length: 6 }, () => ({ count: {} })), 'maximum number of aggregations'],
  ['two of one name', [1, 2].map(() => ({ alias: 'a', count: {} })), 'contain duplicate alias'],
])('%s is refused in the words that clients look for', async (_title, aggregations, details) => {
  const answer = await aggregate('items', aggregations);
  expect(answer).toMatchObject({ code: INVALID_ARGUMENT, details: expect.stringContaining(details) });
});

function aggregate(collectionId: string, aggregations: readonly object[]) {
  const structuredQuery = { from: [{ collectionId }] };
  return raw.call('RunAggregationQuery', {
    parent: `${root}/documents`,
    structuredAggregationQuery: { structuredQuery, aggregations },
  });
}
