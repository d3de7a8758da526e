import { beforeAll, describe, expect, test } from '@jest/globals';
import { setRawBench } from '../support/raw-bench.ts';
import { commit, doc, query, database as root, set } from '../support/requests.ts';

/** Rules of reads and of their times that the Node client never reaches. */
const INVALID_ARGUMENT = 3;
const FAILED_PRECONDITION = 9;
const HOUR_MS = 60 * 60_000;
const START_MS = 1_800_000_000_000;

interface Moment {
  readonly seconds: number;
  readonly nanos: number;
}

let now = START_MS;
const bench = setRawBench({ clock: () => now });

beforeAll(async () => {
  await bench.raw.call('Commit', commit(...['a', 'b', 'c'].map((id) => set(`h/${id}`))));
});

async function written(path: string, v: number): Promise<Moment> {
  const { writeTime } = await bench.db.doc(path).set({ v });
  return { seconds: writeTime.seconds, nanos: writeTime.nanoseconds };
}

describe('an update time as precondition', () => {
  const later = (at: Moment, seconds: number): Moment => ({ ...at, seconds: at.seconds + seconds });

  test.each([
    ['in the past', (at: Moment) => later(at, -1), FAILED_PRECONDITION],
    ['in the future', (at: Moment) => later(at, 1), INVALID_ARGUMENT],
    ['finer than a microsecond', (at: Moment) => ({ ...at, nanos: at.nanos + 1 }), INVALID_ARGUMENT],
  ])('%s changes nothing', async (title, change, code) => {
    const path = `required/${title}`;
    const at = await written(path, 1);
    const currentDocument = { updateTime: change(at) };
    const update = { name: doc(path), fields: {} };
    for (const write of [
      { update, currentDocument },
      { delete: doc(path), currentDocument },
    ]) {
      expect(await bench.raw.call('Commit', { database: root, writes: [write] })).toMatchObject({ code });
    }
    expect((await bench.db.doc(path).get()).data()).toEqual({ v: 1 });
    const kept = { update, currentDocument: { updateTime: at } };
    expect(await bench.raw.call('Commit', { database: root, writes: [kept] })).toMatchObject({ code: 0 });
  });
});

describe('a read at a past time', () => {
  const reads = (readTime: Moment) => [
    bench.raw.call('BatchGetDocuments', { database: root, documents: [doc('past/d')], readTime }),
    bench.raw.call('GetDocument', { name: doc('past/d'), readTime }),
    bench.raw.call('RunQuery', {
      parent: `${root}/documents`,
      structuredQuery: { from: [{ collectionId: 'past' }] },
      readTime,
    }),
    bench.raw.call('BeginTransaction', { database: root, options: { readOnly: { readTime } } }),
  ];

  test('can be up to an hour old', async () => {
    const at = await written('past/d', 1);
    await written('past/d', 2);
    now += HOUR_MS - 1_000;
    for (const answer of await Promise.all(reads(at))) expect(answer).toMatchObject({ code: 0 });
    now += 2_000;
    for (const answer of await Promise.all(reads(at))) {
      expect(answer).toMatchObject({
        code: FAILED_PRECONDITION,
        details: expect.stringContaining('too old'),
      });
    }
  });

  test('is refused if finer than a microsecond', async () => {
    const at = await written('past/d', 3);
    for (const answer of await Promise.all(reads({ ...at, nanos: at.nanos + 1 }))) {
      expect(answer).toMatchObject({ code: INVALID_ARGUMENT, details: expect.stringContaining('microsec') });
    }
  });
});

test('a read accepts a set of paths, in which one may contain another', async () => {
  await bench.db.doc('mask/d').set({ a: { b: 1, c: 2 }, e: 3, f: 4 });
  const [found] = await bench.db.getAll(bench.db.doc('mask/d'), { fieldMask: ['a.b', 'a', 'e', 'e'] });
  expect(found?.data()).toEqual({ a: { b: 1, c: 2 }, e: 3 });
});

test('a batch read reports missing documents at its end', async () => {
  await Promise.all(['batch/a', 'batch/c'].map((path) => written(path, 1)));
  const documents = ['batch/a', 'batch/b', 'batch/c', 'batch/b'].map(doc);
  const { messages } = await bench.raw.call('BatchGetDocuments', { database: root, documents });
  expect(messages.map((m) => m.missing ?? (m.found as { name: string }).name)).toEqual(
    ['batch/a', 'batch/c', 'batch/b'].map(doc),
  );
});

test.each([
  [1, [1, 0]],
  [5, [3]],
])(
  'the first answer of a query with an offset of %i has the number of skipped documents',
  async (offset, expected) => {
    const { messages } = await bench.raw.call('RunQuery', {
      ...query({
        offset,
        where: { fieldFilter: { field: { fieldPath: '__name__' }, op: 2, value: lastName } },
      }),
    });
    expect(messages.map((m) => m.skippedResults ?? 0)).toEqual(expected);
  },
);

const lastName = { referenceValue: doc('h/c') };
