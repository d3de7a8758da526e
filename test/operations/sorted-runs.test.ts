import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RunStatus } from '../../packages/cairn/src/core/run/status.ts';
import {
  decodeCursor,
  encodeCursor,
  encodeSortedCursor,
} from '../../packages/cairn/src/core/search/cursor.ts';
import { comparePlaces, placeIn, RUN_ORDERS } from '../../packages/cairn/src/core/search/order.ts';
import { descending, sortedPage } from '../../packages/cairn/src/memory/paging.ts';
import { MAX_COUNTS, oldestRuns } from '../../packages/cairn/src/operations/search/oldest-runs.ts';
import { MAX_SORTED, sortedRuns } from '../../packages/cairn/src/operations/search/sorted-runs.ts';
import type { ListedRun, PageRequest, RunFilter } from '../../packages/cairn/src/ports/run-store.ts';
import { isInList } from '../../packages/cairn/src/ports/runs/in-list.ts';
import type { IndexedOrder } from '../../packages/cairn/src/ports/runs/run-finder.ts';

const NOW = 1_000_000;
const clock = { now: () => NOW } as never;

/** A store with this many runs, the newest first, and the pages that were requested. */
function storeOf(count: number) {
  const asked: PageRequest[] = [];
  let counts = 0;
  /** One run is created in each millisecond, beginning with 1. */
  const matching = ({ createdFrom = 0, createdBefore = count + 1 }: Partial<RunFilter>) => {
    const first = Math.max(1, createdFrom);
    return { first, number: Math.max(0, Math.min(count, createdBefore - 1) - first + 1) };
  };
  const store = {
    listRuns: async (filter: RunFilter, page: PageRequest) => {
      asked.push(page);
      const { first, number } = matching(filter);
      const [at, id] = page.cursor === undefined ? [first + number, ''] : decodeCursor('runs', page.cursor);
      const after = Math.min(first + number, id > `run_${at}` ? at + 1 : at);
      const length = Math.max(0, Math.min(page.limit, after - first));
      const items = Array.from({ length }, (_, i) => {
        const at = after - 1 - i;
        return { state: { id: `run_${at}`, createdAt: at, updatedAt: at, trigger: {}, threadId: 't' } };
      });
      const last = after - length;
      const next = encodeCursor('runs', [last, `run_${last}`]);
      return { items: items as unknown as ListedRun[], ...(last > first ? { next } : {}) };
    },
  };
  const finder = {
    count: async (filter: RunFilter, most: number) => {
      counts += 1;
      return Math.min(most, matching(filter).number);
    },
    ordered: async () => ({ items: [] }),
  };
  return { store, finder, asked, counts: () => counts };
}

test.each([MAX_SORTED, 20_000, 900_000])(
  'the oldest of %d runs are found, however many are newer',
  async (many) => {
    const { store, finder, asked, counts } = storeOf(many);
    const sorted = await sortedRuns(
      { store, finder, clock },
      { tenantId: 't1' },
      { order: 'oldest', limit: 100 },
    );
    expect(sorted.items.map(({ state }) => state.createdAt)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    expect(sorted.next).toEqual(many > 100 ? expect.any(String) : undefined);
    expect(asked.reduce((sum, { limit }) => sum + limit, 0)).toBeLessThanOrEqual(MAX_SORTED);
    expect(counts()).toBeLessThanOrEqual(MAX_COUNTS);
  },
);

test('the oldest runs that match a filter without an index are searched for among the oldest, and the list continues after them', async () => {
  const { store, finder } = storeOf(20_000);
  const deps = { store, finder, clock };
  const filter = { tenantId: 't1', match: { kind: 'beginning', text: 'run_77' } as never };
  const { items, next } = await sortedRuns(deps, filter, { order: 'oldest', limit: 100 });
  expect(items.map(({ state }) => state.id).slice(0, 2)).toEqual(['run_77', 'run_770']);
  const found = [...items];
  for (let cursor = next; cursor !== undefined; ) {
    const page = await sortedRuns(deps, filter, { order: 'oldest', limit: 100, cursor });
    found.push(...page.items);
    cursor = page.next;
  }
  expect(found.map(({ state }) => state.createdAt)).toEqual(
    Array.from({ length: 20_000 }, (_, i) => i + 1).filter((at) => String(at).startsWith('77')),
  );
});

test('runs of one millisecond that exceed the sort limit form their own window, after the runs before them', async () => {
  let counts = 0;
  const count = async ({ createdBefore = Number.POSITIVE_INFINITY }: RunFilter, most: number) => {
    counts += 1;
    return createdBefore > 500_000 ? most : 7;
  };
  const { windows, isAll } = await oldestRuns({ count }, { tenantId: 't1' }, { most: MAX_SORTED, now: NOW });
  expect([isAll, windows]).toEqual([
    false,
    [
      { tenantId: 't1', createdBefore: 500_000 },
      { tenantId: 't1', createdFrom: 500_000, createdBefore: 500_001 },
    ],
  ]);
  expect(counts).toBeLessThanOrEqual(MAX_COUNTS);
});

test('a sorted list that fits one page is complete', async () => {
  const { store, finder } = storeOf(100);
  const sorted = await sortedRuns(
    { store, finder, clock },
    { tenantId: 't1' },
    { order: 'oldest', limit: 100 },
  );
  expect(sorted.items.map(({ state }) => state.id)).toEqual(
    Array.from({ length: 100 }, (_, i) => `run_${i + 1}`),
  );
  expect(sorted).not.toHaveProperty('next');
});

test('of a store with only short pages a bounded number is read', async () => {
  let requestCount = 0;
  const listRuns = async () => {
    requestCount += 1;
    return { items: [], next: encodeCursor('runs', [1, 'run_1']) };
  };
  const sorting = sortedRuns(
    { store: { listRuns }, finder: storeOf(0).finder, clock },
    { tenantId: 't1' },
    { order: 'oldest', limit: 1 },
  );
  await expect(sorting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(requestCount).toBeLessThanOrEqual(MAX_SORTED);
});

interface Some {
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly durationMs?: number;
  readonly type: string;
  readonly parent?: object;
}

/** A store of these runs, and the number of runs read from it. */
function storeWith(all: readonly Some[]) {
  const runs = all.map((run, i) => ({
    state: { ...run, id: `run_${i}`, tenantId: 't1', trigger: {}, threadId: 't' },
  })) as unknown as ListedRun[];
  let read = 0;
  const found = (filter: RunFilter) => runs.filter((run) => isInList(run, filter));
  const seen = <T extends { readonly items: readonly unknown[] }>(page: T): T => {
    read += page.items.length;
    return page;
  };
  const store = {
    listRuns: async (filter: RunFilter, page: PageRequest) =>
      seen(
        sortedPage(found(filter), page, {
          list: 'runs',
          positionOf: ({ state }) => [state.createdAt, state.id],
          compare: descending,
        }),
      ),
  };
  const finder = {
    count: async (filter: RunFilter, most: number) => Math.min(most, found(filter).length),
    ordered: async (list: IndexedOrder, filter: RunFilter, page: PageRequest) =>
      seen(
        sortedPage(
          found(filter).filter(({ state }) => list === 'updated' || state.durationMs !== undefined),
          page,
          { list, positionOf: ({ state }) => placeIn(list, state, 0), compare: descending },
        ),
      ),
  };
  return { deps: { store, finder, clock }, found, read: () => read };
}

const LIVE = ['running', 'awaiting_approval'] as const;
const ENDED = ['completed', 'failed'] as const;

test('the pages of every order together are the matching runs in that order, each with a bounded number of reads', async () => {
  const one = (moments: number) =>
    fc
      .record({
        isLive: fc.boolean(),
        word: fc.integer({ min: 0, max: 1 }),
        createdAt: fc.integer({ min: 1, max: moments }),
        updatedAt: fc.nat(20),
        durationMs: fc.nat(moments),
        type: fc.constantFrom('a', 'b'),
        isChild: fc.boolean(),
      })
      .map(({ isLive, word, durationMs, isChild, ...run }) => ({
        ...run,
        status: (isLive ? LIVE : ENDED)[word] as RunStatus,
        ...(isLive ? {} : { durationMs }),
        ...(isChild ? { parent: {} } : {}),
      }));
  const filter = fc.record(
    {
      type: fc.constant('a'),
      status: fc.constantFrom<RunStatus | readonly RunStatus[]>('running', 'completed', [
        'failed',
        'running',
      ]),
      topLevel: fc.constant(true as const),
      createdFrom: fc.constant(2),
      createdBefore: fc.integer({ min: 3, max: 900_000 }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      // Many runs in few moments, or few or many runs over a long time.
      fc.constantFrom(3, 900_000).chain((moments) => fc.array(one(moments), { maxLength: 40 })),
      fc.constantFrom(1, 97),
      filter,
      fc.constantFrom(...RUN_ORDERS),
      async (some, times, wanted, order) => {
        const { deps, found, read } = storeWith(Array.from({ length: times }, () => some).flat());
        const filter = { tenantId: 't1', ...wanted };
        const expected = found(filter).toSorted((a, b) =>
          comparePlaces(order, placeIn(order, a.state, NOW), placeIn(order, b.state, NOW)),
        );
        const limit = times === 1 ? 3 : 100;
        const pages: ListedRun[] = [];
        let cursor: string | undefined;
        do {
          const before = read();
          const page = await sortedRuns(deps, filter, { order, limit, cursor });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          // Additional reads: runs of the moment at which the last page ended, of two windows, and of the index.
          expect(read() - before).toBeLessThanOrEqual(3 * MAX_SORTED + limit);
          pages.push(...page.items);
          cursor = page.next;
        } while (cursor !== undefined);
        expect(pages.map(({ state }) => state.id)).toEqual(expected.map(({ state }) => state.id));
      },
    ),
    { numRuns: 60 },
  );
});

test.each(RUN_ORDERS)('a cursor of another order or list is refused by %s', async (order) => {
  const { deps } = storeWith([]);
  const after = { asOf: NOW, after: [5, 'run_1'] as const };
  for (const cursor of [
    ...RUN_ORDERS.filter((other) => other !== order).map((other) => encodeSortedCursor(other, after)),
    encodeCursor('runs', [5, 'run_1']),
    encodeSortedCursor(order, { ...after, after: [0.5, 'run_1'] }),
    encodeSortedCursor(order, { ...after, after: [5, 'a/b'] }),
  ])
    await expect(sortedRuns(deps, { tenantId: 't1' }, { order, limit: 1, cursor })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'cursor',
    });
});
