import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseOrders } from '../../../../packages/local-firestore/src/wire/order-text.ts';
import { setRawBench } from '../support/raw-bench.ts';
import type { Answer } from '../support/raw-calls.ts';
import { commit, doc, database as root, set } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;

const bench = setRawBench();
beforeEach(() => bench.server.reset());

async function answer<T>(call: string, request: object): Promise<T> {
  const { code, details, messages } = await bench.raw.call(call, request);
  expect({ code, details }).toEqual({ code: 0, details: 'OK' });
  return messages[0] as T;
}

const at = (parent: string) => (parent === '' ? `${root}/documents` : doc(parent));

/** Every page of a list, as ids. */
async function pages(request: object, parent = ''): Promise<string[][]> {
  const found: string[][] = [];
  for (let pageToken = ''; ; ) {
    const listRequest = { parent: at(parent), ...request, pageToken };
    const page = await answer<{ documents?: { name: string }[]; nextPageToken: string }>(
      'ListDocuments',
      listRequest,
    );
    found.push((page.documents ?? []).map(({ name }) => name.split('/').at(-1) as string));
    if (!page.nextPageToken) return found;
    pageToken = page.nextPageToken;
  }
}

async function fill(documents: Record<string, object>): Promise<void> {
  const batch = bench.db.batch();
  for (const [path, data] of Object.entries(documents)) batch.set(bench.db.doc(path), data);
  await batch.commit();
}

describe('the order of a list', () => {
  const data = {
    'c/a': { n: 2, k: 1 },
    'c/b': { n: 1, k: 1 },
    'c/c': { n: 2, k: 2 },
    'c/d': { k: 9 },
    'c/e': { n: 1 },
  };

  test.each([
    ['', ['a', 'b', 'c', 'd', 'e']],
    ['__name__ desc', ['e', 'd', 'c', 'b', 'a']],
    ['n', ['b', 'e', 'a', 'c']],
    ['n desc', ['c', 'a', 'e', 'b']],
    ['n DESC, __name__ asc', ['a', 'c', 'b', 'e']],
    ['n, k desc', ['b', 'c', 'a']],
  ])('"%s" is kept from page to page of any size', async (orderBy, expected) => {
    await fill(data);
    for (const pageSize of [1, 2, 3, 50]) {
      const found = await pages({ collectionId: 'c', orderBy, pageSize });
      expect(found.flat()).toEqual(expected);
      expect(found.length).toBe(Math.ceil(expected.length / pageSize));
    }
  });

  test('is read as it was written, back-ticks included', () => {
    const field = fc.oneof(
      fc.constantFrom('a', 'b_1', '`a b`', '`a,b`', '`x\\`y`', 'm.`n.o`'),
      fc.constant('__name__'),
    );
    const order = fc.record({
      field,
      way: fc.constantFrom('', ' asc', ' desc', '  DESC '),
      pad: fc.constantFrom('', ' '),
    });
    fc.assert(
      fc.property(fc.array(order, { minLength: 1, maxLength: 4 }), (orders) => {
        const text = orders.map(({ field: f, way, pad }) => `${pad}${f}${way}`).join(',');
        const descending = orders.map(({ way }) => /desc/i.test(way));
        expect(parseOrders(text).map((o) => o.descending)).toEqual(descending);
        expect(parseOrders(text).map((o) => o.field)).toEqual(
          orders.map((o) => parseOrders(o.field)[0]?.field),
        );
      }),
      { numRuns: 50 },
    );
    expect(parseOrders('m.`n.o` desc')).toEqual([{ field: ['m', 'n.o'], descending: true }]);
  });

  test.each(['a b', 'a,', ',a', 'a desc desc', '`a', 'a upwards', 'a, a'])(
    '"%s" is refused',
    async (orderBy) => {
      const request = { parent: at(''), collectionId: 'c', orderBy };
      expect(await bench.raw.call('ListDocuments', request)).toMatchObject({ code: INVALID_ARGUMENT });
    },
  );
});

test('without a collection the documents of all direct subcollections are listed', async () => {
  await fill({ 'c/a': {}, 'd/a': {}, 'c/a/x/1': {}, 'c/a/y/2': {}, 'c/a/y/2/z/3': {}, 'c/b/x/4': {} });
  expect(await pages({ pageSize: 1 })).toEqual([['a'], ['a']]);
  expect(await pages({}, 'c/a')).toEqual([['1', '2']]);
  expect(await pages({ orderBy: '__name__ desc' }, 'c/a')).toEqual([['2', '1']]);
  expect(await pages({}, 'c/none')).toEqual([[]]);
});

describe('a past moment', () => {
  const PATHS = ['c/a', 'c/b', 'c/a/d/x', 'c/b/d/x', 'c/e/d/x', 'c/e/f/y/d/z'];

  async function seen(moment: object): Promise<unknown> {
    const listed = await Promise.all([
      pages({ collectionId: 'c', showMissing: true, pageSize: 1, ...moment }),
      pages({ collectionId: 'c', orderBy: 'n', pageSize: 2, ...moment }),
      pages({ ...moment }, 'c/a'),
    ]);
    const below = await Promise.all(
      ['', 'c/a', 'c/e'].map((parent) => {
        const request = { parent: at(parent), ...moment };
        return answer<{ collectionIds?: string[] }>('ListCollectionIds', request);
      }),
    );
    return [...listed, ...below.map(({ collectionIds = [] }) => collectionIds)];
  }

  test('is listed as it was, despite later writes and deletes', async () => {
    const change = fc.record({ path: fc.constantFrom(...PATHS), n: fc.option(fc.nat(3)) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        bench.server.reset();
        const moments: { readTime: object; shown: unknown }[] = [];
        for (const { path, n } of changes) {
          const write = n === null ? { delete: doc(path) } : set(path, { n: { integerValue: n } });
          const { commitTime: readTime } = await answer<{ commitTime: object }>('Commit', commit(write));
          moments.push({ readTime, shown: await seen({}) });
        }
        for (const { readTime, shown } of moments) expect(await seen({ readTime })).toEqual(shown);
      }),
      { numRuns: 4 },
    );
  });
});

describe('a transaction', () => {
  test.each([
    ['that exist', { orderBy: 'n' }, 'c/new'],
    ['that are missing', { showMissing: true }, 'c/gone/below/new'],
  ])('locks the documents it lists, those %s', async (_what, more, path) => {
    await fill({ 'c/a': { n: 1 } });
    const { transaction } = await answer<{ transaction: Buffer }>('BeginTransaction', { database: root });
    expect(await pages({ collectionId: 'c', transaction, ...more })).toEqual([['a']]);
    const order: string[] = [];
    const write = bench.raw.call('Commit', commit(set(path, { n: { integerValue: 2 } })));
    const written = write.then(() => order.push('other'));
    // Once this is answered, the server has received the write, which must be waiting.
    await answer('BatchGetDocuments', { database: root, documents: [doc('c/a')], transaction });
    await answer('Commit', { database: root, transaction, writes: [set('c/a')] }).then(() =>
      order.push('own'),
    );
    await written;
    expect(order).toEqual(['own', 'other']);
  });
});

test('every listed document is billed, and an empty list one read', async () => {
  await fill({ 'c/a': {}, 'c/b/d/x': {}, 'c/e': {} });
  const reads = () => bench.server.meter.snapshot().byCall.ListDocuments?.reads ?? 0;
  let before = reads();
  for (const [request, billed] of [
    [{ collectionId: 'c' }, 2],
    [{ collectionId: 'c', showMissing: true }, 3],
    [{ collectionId: 'none' }, 1],
  ] as const) {
    await pages(request);
    expect(reads() - before).toBe(billed);
    before = reads();
  }
});

describe('a page token', () => {
  const lists: [string, string, object][] = [
    ['by name', 'ListDocuments', { collectionId: 'c' }],
    ['by a field', 'ListDocuments', { collectionId: 'c', orderBy: 'n' }],
    ['by a field descending', 'ListDocuments', { collectionId: 'c', orderBy: 'n desc' }],
    ['by two fields', 'ListDocuments', { collectionId: 'c', orderBy: 'n, k' }],
    ['of missing documents', 'ListDocuments', { collectionId: 'c', showMissing: true }],
    ['of collections', 'ListCollectionIds', {}],
  ];
  const page = (call: string, request: object) =>
    bench.raw.call(call, { parent: at(''), pageSize: 1, ...request });

  test.each(lists)('of a list %s is good for such a list only', async (_what, call, request) => {
    await fill({ 'c/a': { n: 1, k: 1 }, 'c/b': { n: 1, k: 2 }, 'd/a': {} });
    const first = await page(call, request);
    const { nextPageToken: pageToken } = first.messages[0] as { nextPageToken: string };
    for (const [, otherCall, other] of lists) {
      const { code } = await page(otherCall, { ...other, pageToken });
      expect(code).toBe(other === request ? 0 : INVALID_ARGUMENT);
    }
  });

  test.each(lists)('that is none is refused by a list %s', async (_what, call, request) => {
    for (const text of ['xx', 'c', '[]', '{}', 'null', '["collections",7]']) {
      const pageToken = Buffer.from(text).toString('base64url');
      expect(await page(call, { ...request, pageToken })).toMatchObject({ code: INVALID_ARGUMENT });
    }
  });
});

test.each<[string, number, object]>([
  ['missing documents in an order', INVALID_ARGUMENT, { collectionId: 'c', showMissing: true, orderBy: 'n' }],
  ['missing documents of every collection', INVALID_ARGUMENT, { showMissing: true }],
  ['every collection in the order of a field', INVALID_ARGUMENT, { orderBy: 'n' }],
  ['a token of nothing', INVALID_ARGUMENT, { collectionId: 'c', pageToken: 'AAAA' }],
])('%s is refused', async (_what, code, request) => {
  const { code: found }: Answer = await bench.raw.call('ListDocuments', { parent: at(''), ...request });
  expect(found).toBe(code);
});
