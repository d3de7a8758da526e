import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { commit, doc, query, database as root, set } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;

let bench: Bench;
let raw: RawCalls;

beforeAll(async () => {
  bench = await startBench();
  raw = new RawCalls(bench.server.host);
  await raw.call('Commit', commit(...['a', 'b', 'c'].map((id) => set(`h/${id}`))));
});
afterAll(async () => {
  raw.close();
  await bench.stop();
});

describe('a transaction that a read begins', () => {
  const begin = async (method: string, request: object, newTransaction: object) => {
    const { messages } = await raw.call(method, { ...request, newTransaction });
    return messages[0]?.transaction as Uint8Array;
  };
  const aggregate = {
    parent: query({}).parent,
    structuredAggregationQuery: { ...query({}), aggregations: [{ count: {} }] },
  };

  test.each([
    ['BatchGetDocuments', { database: root, documents: [doc('h/a')] }],
    ['RunQuery', query({})],
    ['RunAggregationQuery', aggregate],
  ])('by %s is read-only unless it is asked for otherwise', async (method, request) => {
    const write = async (transaction: Uint8Array) =>
      raw.call('Commit', { ...commit(set('h/written')), transaction });
    expect(await write(await begin(method, request, {}))).toMatchObject({
      code: INVALID_ARGUMENT,
      details: expect.stringContaining('read-only'),
    });
    expect(await write(await begin(method, request, { readWrite: {} }))).toMatchObject({ code: 0 });
  });

  test('explicitly is read-write unless it is asked for otherwise', async () => {
    const { messages } = await raw.call('BeginTransaction', { database: root });
    const transaction = messages[0]?.transaction;
    expect(await raw.call('Commit', { ...commit(set('h/written')), transaction })).toMatchObject({ code: 0 });
  });
});

test.each([
  [1, [1, 0]],
  [5, [3]],
])(
  'a query with an offset of %i tells with its first answer how many it passed over',
  async (offset, told) => {
    const { messages } = await raw.call('RunQuery', {
      ...query({
        offset,
        where: { fieldFilter: { field: { fieldPath: '__name__' }, op: 2, value: lastName } },
      }),
    });
    expect(messages.map((m) => m.skippedResults ?? 0)).toEqual(told);
  },
);

const lastName = { referenceValue: doc('h/c') };
