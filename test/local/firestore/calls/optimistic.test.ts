import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { commit, doc, database as root, set } from '../support/requests.ts';

const ABORTED = 10;
const INVALID_ARGUMENT = 3;

let bench: Bench;
let raw: RawCalls;

beforeAll(async () => {
  bench = await startBench();
  raw = new RawCalls(bench.server.host);
});
afterAll(async () => {
  raw.close();
  await bench.stop();
});

async function begin(concurrencyMode: string): Promise<Uint8Array> {
  const options = { readWrite: { concurrencyMode } };
  const { messages } = await raw.call('BeginTransaction', { database: root, options });
  return messages[0]?.transaction as Uint8Array;
}

const read = (transaction: Uint8Array, path: string) =>
  raw.call('BatchGetDocuments', { database: root, documents: [doc(path)], transaction });

const atLeast = (transaction: Uint8Array, collectionId: string, integerValue: number) =>
  raw.call('RunQuery', {
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
  raw.call('Commit', {
    ...commit(set(path, { n: { integerValue: n } })),
    ...(transaction && { transaction }),
  });

test('an optimistic transaction keeps no writer waiting, and fails when one has changed what it read', async () => {
  const transaction = await begin('OPTIMISTIC');
  await read(transaction, 'o/read');
  expect(await write('o/read', 1)).toMatchObject({ code: 0 });
  expect(await write('o/other', 1, transaction)).toMatchObject({ code: ABORTED });
  expect((await bench.db.doc('o/other').get()).exists).toBe(false);
});

test('of two that read and write the same document, the one that commits first wins', async () => {
  const [one, two] = [await begin('OPTIMISTIC'), await begin('OPTIMISTIC')];
  for (const transaction of [one, two]) await read(transaction, 'o/both');
  expect(await write('o/both', 2, two)).toMatchObject({ code: 0 });
  expect(await write('o/both', 1, one)).toMatchObject({ code: ABORTED });
  expect((await bench.db.doc('o/both').get()).get('n')).toBe(2);
});

test('what a query would find counts as read, what it would not does not', async () => {
  const [high, low] = [await begin('OPTIMISTIC'), await begin('OPTIMISTIC')];
  await atLeast(high, 'q', 10);
  await atLeast(low, 'q', 1);
  await write('q/five', 5);
  expect(await write('o/high', 1, high)).toMatchObject({ code: 0 });
  expect(await write('o/low', 1, low)).toMatchObject({ code: ABORTED });
});

test('it waits for a pessimistic reader of what it writes, and fails if what it read is changed meanwhile', async () => {
  const [optimistic, pessimistic] = [await begin('OPTIMISTIC'), await begin('PESSIMISTIC')];
  await read(optimistic, 'w/seen');
  await read(pessimistic, 'w/locked');
  const waiting = write('w/locked', 1, optimistic);
  expect(await write('w/seen', 2, pessimistic)).toMatchObject({ code: 0 });
  expect(await waiting).toMatchObject({ code: ABORTED });
  expect((await bench.db.doc('w/locked').get()).exists).toBe(false);
});

test('a mode that there is not is refused', async () => {
  const options = { readWrite: { concurrencyMode: 7 } };
  const answer = await raw.call('BeginTransaction', { database: root, options });
  expect(answer).toMatchObject({ code: INVALID_ARGUMENT });
});
