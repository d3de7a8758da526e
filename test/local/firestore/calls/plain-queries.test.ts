/** Queries that the protocol can express and no official client writes: they are answered as production answers them. */
import { beforeAll, expect, test } from '@jest/globals';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, compare, one, query, set } from '../support/requests.ts';

const bench = setRawBench();
const nothing = { nullValue: 0 };
const notANumber = { doubleValue: Number.NaN };

beforeAll(async () => {
  const fields = { a: nothing, b: notANumber, c: { integerValue: 5 } };
  const writes = Object.entries(fields).map(([id, x]) => set(`h/${id}`, { x, n: one }));
  await bench.raw.call('Commit', commit(...writes, set('i/z', {}), set('h/a/below/y', {})));
});

async function ids(structuredQuery: object): Promise<string[]> {
  const { code, details, messages } = await bench.raw.call('RunQuery', query(structuredQuery));
  expect({ code, details }).toEqual({ code: 0, details: 'OK' });
  const documents = messages.flatMap(({ document }) => (document ? [document as { name: string }] : []));
  return documents.map(({ name }) => name.split('/documents/')[1] as string);
}

const and = (...filters: object[]) => ({ compositeFilter: { op: 'AND', filters } });
const or = (...filters: object[]) => ({ compositeFilter: { op: 'OR', filters } });

test.each<[string, object, string[]]>([
  ['equals null', compare('x', 'EQUAL', nothing), []],
  ['does not equal null', compare('x', 'NOT_EQUAL', nothing), []],
  ['is at most null', compare('x', 'LESS_THAN_OR_EQUAL', nothing), []],
  ['is at least null', compare('x', 'GREATER_THAN_OR_EQUAL', nothing), []],
  [
    'equals null or 5',
    or(compare('x', 'EQUAL', nothing), compare('x', 'EQUAL', { integerValue: 5 })),
    ['h/c'],
  ],
  ['equals NaN', compare('x', 'EQUAL', notANumber), []],
  ['does not equal NaN', compare('x', 'NOT_EQUAL', notANumber), ['h/b', 'h/c']],
])('a comparison with a value: what %s', async (_what, where, found) => {
  expect(await ids({ where })).toEqual(found);
});

test.each<[string, object, string[]]>([
  ['no conditions', and(), ['h/a', 'h/b', 'h/c']],
  ['no conditions and one', and(and(), compare('x', 'EQUAL', { integerValue: 5 })), ['h/c']],
  ['no conditions or one', or(and(), compare('x', 'EQUAL', { integerValue: 5 })), ['h/a', 'h/b', 'h/c']],
])('%s hold for every document that the rest allows', async (_what, where, found) => {
  expect(await ids({ where })).toEqual(found);
});

test('without a collection the direct children of the parent are found, ordered by name', async () => {
  expect(await ids({ from: [] })).toEqual(['h/a', 'h/b', 'h/c', 'i/z']);
  expect(await ids({ from: [{}], limit: { value: 2 } })).toEqual(['h/a', 'h/b']);
  expect(await ids({ from: [{ allDescendants: true }] })).toEqual([
    'h/a',
    'h/a/below/y',
    'h/b',
    'h/c',
    'i/z',
  ]);
});

test('a cursor without values is before or after all documents', async () => {
  const orderBy = [{ field: { fieldPath: 'x' } }];
  expect(await ids({ orderBy, startAt: { before: true } })).toEqual(['h/a', 'h/b', 'h/c']);
  expect(await ids({ orderBy, startAt: { before: false } })).toEqual([]);
  expect(await ids({ orderBy, endAt: { before: true } })).toEqual([]);
  expect(await ids({ orderBy, endAt: { before: false } })).toEqual(['h/a', 'h/b', 'h/c']);
});

test('an empty projection returns only the name', async () => {
  const { messages } = await bench.raw.call('RunQuery', query({ select: {}, limit: { value: 1 } }));
  expect(messages.map(({ document }) => Object.keys(document as object).sort())).toEqual([
    ['createTime', 'name', 'updateTime'],
  ]);
});
