import { FieldPath, type QueryPartition, Timestamp } from '@google-cloud/firestore';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setRawBench } from '../support/raw-bench.ts';
import { doc, database as root } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;
/** Four parts of at least 128 documents, at three depths. */
const PARTS = 4;
const COUNT = PARTS * 128 + 5;

const bench = setRawBench();
const names: string[] = [];

beforeAll(async () => {
  const { db } = bench;
  for (let start = 0; start < COUNT; start += 500) {
    const batch = db.batch();
    for (let i = start; i < Math.min(start + 500, COUNT); i++) {
      const under = ['', `a/b${i % 7}/`, 'a/z/y/x/'][i % 3];
      batch.set(db.doc(`${under}g/d${i}`), { i });
    }
    await batch.commit();
  }
  const all = await db.collectionGroup('g').orderBy(FieldPath.documentId()).get();
  names.push(...all.docs.map((d) => d.ref.path));
});

async function partitions(desired: number, group = 'g'): Promise<QueryPartition[]> {
  const found: QueryPartition[] = [];
  for await (const partition of bench.db.collectionGroup(group).getPartitions(desired)) found.push(partition);
  return found;
}

const request = (more: object = {}, query: object = {}) => ({
  parent: `${root}/documents`,
  structuredQuery: {
    from: [{ collectionId: 'g', allDescendants: true }],
    orderBy: [{ field: { fieldPath: '__name__' }, direction: 'ASCENDING' }],
    ...query,
  },
  partitionCount: 4,
  ...more,
});

interface Page {
  readonly partitions?: readonly { readonly values: readonly { readonly referenceValue: string }[] }[];
  readonly nextPageToken?: string;
}

async function page(more: object): Promise<{ points: string[]; token: string }> {
  const { code, details, messages } = await bench.raw.call('PartitionQuery', request(more));
  expect({ code, details }).toEqual({ code: 0, details: 'OK' });
  const { partitions: points = [], nextPageToken: token = '' } = messages[0] as Page;
  return { points: points.map((p) => p.values[0]?.referenceValue as string), token };
}

describe('the client', () => {
  test.each([1, 3, 50])(
    'gets at most %d partitions, which together cover the collection',
    async (desired) => {
      const parts = await partitions(desired);
      expect(parts.length).toBe(Math.min(desired, PARTS));
      const found: string[] = [];
      for (const part of parts) {
        const { docs } = await part.toQuery().get();
        expect(docs.length).toBeGreaterThanOrEqual(128);
        expect(docs.length).toBeLessThanOrEqual(Math.ceil(PARTS / parts.length) * 128 + 5);
        found.push(...docs.map((d) => d.ref.path));
      }
      expect(found).toEqual(names);
    },
  );

  test('gets one partition of a small collection', async () => {
    await bench.db.doc('few/one').set({});
    for (const group of ['few', 'none']) {
      const [only, ...others] = await partitions(3, group);
      expect({ start: only?.startAt, end: only?.endBefore, others }).toEqual({
        start: undefined,
        end: undefined,
        others: [],
      });
    }
  });
});

test('pages of any size return the requested number of cursors, in order, with no partition below the minimum', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 7, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(sizes, async (pageSizes) => {
      const found: string[] = [];
      let pageToken = '';
      for (const pageSize of pageSizes) {
        const { points, token } = await page({ partitionCount: 7, pageSize, pageToken });
        expect(points.length).toBeLessThanOrEqual(pageSize);
        found.push(...points);
        pageToken = token;
        if (token === '') break;
      }
      const places = found.map((name) => names.indexOf(name.slice(doc('').length)));
      const sizes = [...places, COUNT].map((place, i) => place - (places[i - 1] ?? 0));
      expect(sizes.length).toBe(PARTS);
      for (const size of sizes) expect(size).toBeGreaterThanOrEqual(128);
    }),
    { numRuns: 5 },
  );
});

test('a past read time is partitioned as of then', async () => {
  const { writeTime } = await bench.db.doc('past/x').set({});
  const batch = bench.db.batch();
  for (let i = 0; i < 300; i++) batch.set(bench.db.doc(`past/n${i}`), {});
  await batch.commit();
  const at = {
    structuredQuery: request({}, { from: [{ collectionId: 'past', allDescendants: true }] }).structuredQuery,
  };
  const readTime = { seconds: writeTime.seconds, nanos: writeTime.nanoseconds };
  expect((await page(at)).points).toEqual([doc('past/n213')]);
  expect((await page({ ...at, readTime })).points).toEqual([]);
  const future = Timestamp.fromMillis(writeTime.toMillis() + 3_600_000);
  const answer = await bench.raw.call('PartitionQuery', request({ readTime: { seconds: future.seconds } }));
  expect(answer).toMatchObject({ code: INVALID_ARGUMENT });
});

test('a request is billed one read, whatever its size', async () => {
  const before = bench.server.meter.snapshot().byCall.PartitionQuery?.reads ?? 0;
  await partitions(5);
  expect(bench.server.meter.snapshot().byCall.PartitionQuery?.reads).toBe(before + 1);
});

const byField = [{ field: { fieldPath: 'i' }, direction: 'ASCENDING' }];
const backwards = [{ field: { fieldPath: '__name__' }, direction: 'DESCENDING' }];
const equal = { fieldFilter: { field: { fieldPath: 'i' }, op: 'EQUAL', value: { integerValue: 1 } } };
test.each<[string, object, object?]>([
  ['no places at all', { partitionCount: 0 }],
  ['a negative number of places', { partitionCount: -1 }],
  ['a negative page size', { pageSize: -1 }],
  ['a document as parent', { parent: doc('a/b') }],
  ['a token of another call', { pageToken: Buffer.from('d4').toString('base64url') }],
  [
    'a token of another database',
    { pageToken: Buffer.from('1 projects/p/databases/d/documents/g/x').toString('base64url') },
  ],
  ['a single collection', {}, { from: [{ collectionId: 'g' }] }],
  ['every collection', {}, { from: [{ allDescendants: true }] }],
  ['no order', {}, { orderBy: [] }],
  ['another order', {}, { orderBy: byField }],
  ['the order backwards', {}, { orderBy: backwards }],
  ['a filter', {}, { where: equal }],
  ['a limit', {}, { limit: { value: 3 } }],
  ['an offset', {}, { offset: 3 }],
  ['a projection', {}, { select: { fields: [{ fieldPath: '__name__' }] } }],
  ['a cursor', {}, { startAt: { values: [{ referenceValue: doc('g/d1') }] } }],
])('%s is refused', async (_what, more, query = {}) => {
  expect(await bench.raw.call('PartitionQuery', request(more, query))).toMatchObject({
    code: INVALID_ARGUMENT,
  });
});
