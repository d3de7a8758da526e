import { beforeAll, describe, expect, test } from '@jest/globals';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, doc, query, database as root, set } from '../support/requests.ts';

/** Transaction requests of clients other than Node's. */
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;

const bench = setRawBench();

beforeAll(async () => {
  await bench.raw.call('Commit', commit(set('h/a')));
});

describe('a transaction that a read begins', () => {
  const beginBy = async (method: string, request: object, newTransaction: object) => {
    const { messages } = await bench.raw.call(method, { ...request, newTransaction });
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
    const writeIn = async (transaction: Uint8Array) =>
      bench.raw.call('Commit', { ...commit(set('h/written')), transaction });
    expect(await writeIn(await beginBy(method, request, {}))).toMatchObject({
      code: INVALID_ARGUMENT,
      details: expect.stringContaining('read-only'),
    });
    expect(await writeIn(await beginBy(method, request, { readWrite: {} }))).toMatchObject({ code: 0 });
  });

  test('explicitly is read-write by default', async () => {
    const { messages } = await bench.raw.call('BeginTransaction', { database: root });
    const transaction = messages[0]?.transaction;
    expect(await bench.raw.call('Commit', { ...commit(set('h/written')), transaction })).toMatchObject({
      code: 0,
    });
  });
});

describe('an optimistic transaction', () => {
  async function begin(concurrencyMode: string): Promise<Uint8Array> {
    const options = { readWrite: { concurrencyMode } };
    const { messages } = await bench.raw.call('BeginTransaction', { database: root, options });
    return messages[0]?.transaction as Uint8Array;
  }

  const read = (transaction: Uint8Array, path: string) =>
    bench.raw.call('BatchGetDocuments', { database: root, documents: [doc(path)], transaction });

  const atLeast = (transaction: Uint8Array, collectionId: string, integerValue: number) =>
    bench.raw.call('RunQuery', {
      parent: `${root}/documents`,
      structuredQuery: {
        from: [{ collectionId }],
        where: {
          fieldFilter: { field: { fieldPath: 'n' }, op: 'GREATER_THAN_OR_EQUAL', value: { integerValue } },
        },
      },
      transaction,
    });

  const write = (path: string, n: number, transaction?: Uint8Array) =>
    bench.raw.call('Commit', {
      ...commit(set(path, { n: { integerValue: n } })),
      ...(transaction && { transaction }),
    });

  test('does not block writers, and fails if one has changed what it read', async () => {
    const transaction = await begin('OPTIMISTIC');
    await read(transaction, 'o/read');
    expect(await write('o/read', 1)).toMatchObject({ code: 0 });
    expect(await write('o/other', 1, transaction)).toMatchObject({ code: ABORTED });
    expect((await bench.db.doc('o/other').get()).exists).toBe(false);
  });

  test('sees the snapshot of its first read, and may commit without writes after later changes', async () => {
    await write('s/one', 1);
    await write('s/two', 1);
    const transaction = await begin('OPTIMISTIC');
    await write('s/one', 2);
    const numberIn = async (path: string) => {
      const { messages } = await read(transaction, path);
      const { found } = messages[0] as { found?: { fields: { n: { integerValue: number } } } };
      return found?.fields.n.integerValue;
    };
    expect(await numberIn('s/one')).toBe(2);
    await write('s/two', 2);
    await write('s/one', 3);
    expect(await numberIn('s/two')).toBe(1);
    expect(await numberIn('s/one')).toBe(2);
    const { messages } = await atLeast(transaction, 's', 3);
    expect(messages.filter(({ document }) => document)).toEqual([]);
    expect(await bench.raw.call('Commit', { ...commit(), transaction })).toMatchObject({ code: 0 });
  });

  test('of two that read and write the same document, the one that commits first wins', async () => {
    const [one, two] = [await begin('OPTIMISTIC'), await begin('OPTIMISTIC')];
    for (const transaction of [one, two]) await read(transaction, 'o/both');
    expect(await write('o/both', 2, two)).toMatchObject({ code: 0 });
    expect(await write('o/both', 1, one)).toMatchObject({ code: ABORTED });
    expect((await bench.db.doc('o/both').get()).get('n')).toBe(2);
  });

  test('documents that match a query count as read, others do not', async () => {
    const [high, low] = [await begin('OPTIMISTIC'), await begin('OPTIMISTIC')];
    await atLeast(high, 'q', 10);
    await atLeast(low, 'q', 1);
    await write('q/five', 5);
    expect(await write('o/high', 1, high)).toMatchObject({ code: 0 });
    expect(await write('o/low', 1, low)).toMatchObject({ code: ABORTED });
  });

  test('waits for a pessimistic reader of its writes, and fails if its reads change meanwhile', async () => {
    const [optimistic, pessimistic] = [await begin('OPTIMISTIC'), await begin('PESSIMISTIC')];
    await read(optimistic, 'w/seen');
    await read(pessimistic, 'w/locked');
    const waiting = write('w/locked', 1, optimistic);
    expect(await write('w/seen', 2, pessimistic)).toMatchObject({ code: 0 });
    expect(await waiting).toMatchObject({ code: ABORTED });
    expect((await bench.db.doc('w/locked').get()).exists).toBe(false);
  });

  test('an unknown mode is refused', async () => {
    const options = { readWrite: { concurrencyMode: 7 } };
    const answer = await bench.raw.call('BeginTransaction', { database: root, options });
    expect(answer).toMatchObject({ code: INVALID_ARGUMENT });
  });
});

const verify = (path: string, currentDocument?: object) => ({
  verify: doc(path),
  ...(currentDocument && { currentDocument }),
});

async function written(path: string, v: number) {
  const { writeTime } = await bench.db.doc(path).set({ v });
  return { updateTime: { seconds: writeTime.seconds, nanos: writeTime.nanoseconds } };
}

/** Clients of browsers commit a transaction with its writes, and with a verification of each document that it only read. */
describe('a commit that verifies what it has read', () => {
  test('is applied if the document is unchanged, costs one read and does not write it', async () => {
    const seen = await written('v/read', 1);
    bench.server.meter.reset();
    const answer = await bench.raw.call(
      'Commit',
      commit(set('v/out'), verify('v/read', seen), verify('v/none', { exists: false })),
    );
    expect(answer).toMatchObject({ code: 0 });
    const { writeResults } = answer.messages[0] as { writeResults: { updateTime?: object }[] };
    expect(writeResults.map(({ updateTime }) => updateTime !== undefined)).toEqual([true, true, false]);
    expect(writeResults[1]?.updateTime).toEqual(seen.updateTime);
    expect(bench.server.meter.snapshot().total).toMatchObject({ reads: 2, writes: 1, deletes: 0 });
    expect((await bench.db.doc('v/read').get()).data()).toEqual({ v: 1 });
  });

  test.each([
    ['was changed', 'v/changed', (seen: object) => seen, FAILED_PRECONDITION],
    ['is there and was not', 'v/there', () => ({ exists: false }), ALREADY_EXISTS],
    ['is not there and was', 'v/gone', () => ({ exists: true }), NOT_FOUND],
  ])('writes nothing when that %s', async (_what, path, required, code) => {
    const seen = await written(path, 1);
    if (path === 'v/gone') await bench.db.doc(path).delete();
    else await written(path, 2);
    const answer = await bench.raw.call('Commit', commit(set(`${path}-out`), verify(path, required(seen))));
    expect(answer).toMatchObject({ code });
    expect((await bench.db.doc(`${path}-out`).get()).exists).toBe(false);
  });

  test.each<[string, (verified: object, path: string) => object[]]>([
    ['a write after it', (verified, path) => [verified, set(path)]],
    ['a write before it', (verified, path) => [set(path), verified]],
    ['a deletion after it', (verified, path) => [verified, { delete: doc(path) }]],
    ['another verification', (verified) => [verified, verified]],
    ['a write further on', (verified, path) => [verified, set(`${path}-other`), set(path)]],
  ])('is refused beside %s of the same document', async (_what, writes) => {
    const path = 'v/beside';
    await bench.raw.call('Commit', commit(set(path)));
    const answer = await bench.raw.call('Commit', commit(...writes(verify(path, { exists: true }), path)));
    expect(answer).toMatchObject({ code: INVALID_ARGUMENT, details: expect.stringMatching(/is verified/) });
  });

  test('is refused without a condition to verify', async () => {
    expect(await bench.raw.call('Commit', commit(verify('v/read')))).toMatchObject({
      code: INVALID_ARGUMENT,
    });
  });

  test('does not wait for readers of the same document', async () => {
    const seen = await written('v/shared', 1);
    await bench.db.runTransaction(async (transaction) => {
      await transaction.get(bench.db.doc('v/shared'));
      expect(await bench.raw.call('Commit', commit(verify('v/shared', seen)))).toMatchObject({ code: 0 });
    });
  });
});

test('a read-only transaction is not retried', async () => {
  const begin = (options: object) => bench.raw.call('BeginTransaction', { database: root, options });
  const { messages } = await begin({ readOnly: {} });
  const { transaction } = messages[0] as { transaction: Uint8Array };
  expect(await begin({ readWrite: { retryTransaction: transaction } })).toMatchObject({
    code: 3,
    details: 'Cannot retry a read-only transaction.',
  });
});
