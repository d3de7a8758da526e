/** Deletion of all documents during transactions and writes, as between two tests of an application. */
import { expect, test } from '@jest/globals';
import { listenTo, nobodyListens } from '../listen/seen.ts';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, doc, database as root, set } from '../support/requests.ts';

const OK = 0;
const ABORTED = 10;

const optimistic = { readWrite: { concurrencyMode: 'OPTIMISTIC' } };

const bench = setRawBench();

async function begin(options: object): Promise<Uint8Array> {
  const { messages } = await bench.raw.call('BeginTransaction', { database: root, options });
  return messages[0]?.transaction as Uint8Array;
}

const read = (transaction: Uint8Array, path: string) =>
  bench.raw.call('BatchGetDocuments', { database: root, documents: [doc(path)], transaction });

const write = (transaction: Uint8Array, path: string) =>
  bench.raw.call('Commit', { ...commit(set(path)), transaction });

test('a write that waited for a transaction is shown to later listeners', async () => {
  const list = bench.db.collection('waited');
  const transaction = await begin({ readWrite: {} });
  await read(transaction, 'waited/a');
  const waiting = list.doc('a').set({});
  // The commit of another document, on the same connection, arrives after the first.
  await list.doc('before').set({});
  bench.server.reset();
  const seen = listenTo(list);
  await seen.until((all) => all.length > 0);
  await bench.raw.call('Rollback', { database: root, transaction });
  await waiting;
  await list.doc('z').set({});
  await seen.until((all) => all.at(-1)?.paths.includes('waited/z') === true);
  expect(seen.last?.paths).toEqual(['waited/a', 'waited/z']);
  seen.stop();
  await nobodyListens(bench.server);
});

test.each([
  ['read-only', { readOnly: {} }],
  ['pessimistic', { readWrite: {} }],
  ['optimistic', optimistic],
])('a transaction that has read what was deleted is aborted (%s)', async (kind, options) => {
  const path = `seen/${kind}`;
  await bench.db.doc(path).set({});
  const transaction = await begin(options);
  expect(await read(transaction, path)).toMatchObject({ code: OK });
  bench.server.reset();
  expect(await read(transaction, path)).toMatchObject({ code: ABORTED });
  expect(await write(transaction, `${path}-out`)).toMatchObject({ code: ABORTED });
  await bench.db.doc(path).set({});
});

test.each([
  ['an older one', 'both/older', [{ readWrite: {} }, { readWrite: {} }], 1],
  ['a younger one', 'both/younger', [optimistic, { readWrite: {} }], 0],
])('a commit that waits for %s is not done when both are aborted', async (_which, path, options, waits) => {
  const open: Uint8Array[] = [];
  for (const one of options) open.push(await begin(one));
  for (const transaction of open) await read(transaction, path);
  const waiting = write(open[waits] as Uint8Array, path);
  await bench.db.doc(`${path}-before`).set({});
  bench.server.reset();
  expect(await waiting).toMatchObject({ code: ABORTED });
  expect((await bench.db.doc(path).get()).exists).toBe(false);
});

test('transactions of other projects go on', async () => {
  const transaction = await begin({ readWrite: {} });
  await read(transaction, 'other/a');
  await bench.client('another-project').doc('a/b').set({});
  bench.server.reset('another-project');
  expect(await write(transaction, 'other/a')).toMatchObject({ code: OK });
});
