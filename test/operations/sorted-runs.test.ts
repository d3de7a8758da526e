import { expect, test } from '@jest/globals';
import { MOST_COUNTS, oldestRuns } from '../../packages/cairn/src/operations/search/oldest-runs.ts';
import { MOST_SORTED, sortedRuns } from '../../packages/cairn/src/operations/search/sorted-runs.ts';
import type { ListedRun, PageRequest, RunFilter } from '../../packages/cairn/src/ports/run-store.ts';

const NOW = 1_000_000;
const clock = { now: () => NOW } as never;

/** A store with so many runs, the newest first, and the pages that were asked of it. */
function storeOf(count: number) {
  const asked: PageRequest[] = [];
  let counts = 0;
  /** One is created in each millisecond. */
  const matching = ({ createdBefore = count + 1 }: Pick<RunFilter, 'createdBefore'>) =>
    Math.max(0, Math.min(count, createdBefore - 1));
  const store = {
    listRuns: async (filter: RunFilter, page: PageRequest) => {
      asked.push(page);
      const all = matching(filter);
      const from = Number(page.cursor ?? 0);
      const to = Math.min(all, from + page.limit);
      const items = Array.from({ length: to - from }, (_, i) => {
        const at = all - from - i;
        return { state: { id: `run_${at}`, createdAt: at, updatedAt: at, trigger: {}, threadId: 't' } };
      });
      return { items: items as unknown as ListedRun[], ...(to < all ? { next: String(to) } : {}) };
    },
  };
  const finder = {
    count: async (filter: RunFilter, most: number) => {
      counts += 1;
      return Math.min(most, matching(filter));
    },
  };
  return { store, finder, asked, counts: () => counts };
}

test('a sorted list reads the newest thousand at most, and says that there are more', async () => {
  const { store, finder, asked } = storeOf(MOST_SORTED + 1);
  const { items, isCut } = await sortedRuns(
    { store, finder, clock },
    { tenantId: 't1' },
    { order: 'longest', limit: 2 },
  );
  expect(items.map(({ state }) => state.id)).toEqual(['run_2', 'run_3']);
  expect(isCut).toBe(true);
  expect(asked.reduce((sum, { limit }) => sum + limit, 0)).toBe(MOST_SORTED);
});

test.each([MOST_SORTED, 20_000, 900_000])(
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
    expect(sorted).not.toHaveProperty('isCut');
    expect(asked.reduce((sum, { limit }) => sum + limit, 0)).toBeLessThanOrEqual(MOST_SORTED);
    expect(counts()).toBeLessThanOrEqual(MOST_COUNTS);
  },
);

test('the oldest that match a filter without an index are sought among the oldest, and the list says so', async () => {
  const { store, finder } = storeOf(20_000);
  const { items, isCut } = await sortedRuns(
    { store, finder, clock },
    { tenantId: 't1', match: { kind: 'beginning', text: 'run_77' } as never },
    { order: 'oldest', limit: 100 },
  );
  expect(items.map(({ state }) => state.id).slice(0, 2)).toEqual(['run_77', 'run_770']);
  expect(isCut).toBe(true);
});

test('more runs in one millisecond than can be sorted are a window of their own, after those before them', async () => {
  let counts = 0;
  const count = async ({ createdBefore = Number.POSITIVE_INFINITY }: RunFilter, most: number) => {
    counts += 1;
    return createdBefore > 500_000 ? most : 7;
  };
  const { windows, isAll } = await oldestRuns({ count }, { tenantId: 't1' }, { most: MOST_SORTED, now: NOW });
  expect([isAll, windows]).toEqual([
    false,
    [
      { tenantId: 't1', createdBefore: 500_000 },
      { tenantId: 't1', createdFrom: 500_000, createdBefore: 500_001 },
    ],
  ]);
  expect(counts).toBeLessThanOrEqual(MOST_COUNTS);
});

test('a sorted list of no more than that is whole', async () => {
  const { store, finder } = storeOf(MOST_SORTED);
  const sorted = await sortedRuns(
    { store, finder, clock },
    { tenantId: 't1' },
    { order: 'oldest', limit: 1 },
  );
  expect(sorted.items.map(({ state }) => state.id)).toEqual(['run_1']);
  expect(sorted).not.toHaveProperty('isCut');
});

test('a store whose pages are all short is asked a bounded number of times', async () => {
  let asked = 0;
  const listRuns = async () => {
    asked += 1;
    return { items: [], next: 'more' };
  };
  const sorted = await sortedRuns(
    { store: { listRuns }, finder: storeOf(0).finder, clock },
    { tenantId: 't1' },
    { order: 'updated', limit: 1 },
  );
  expect(sorted).toEqual({ items: [], isCut: true });
  expect(asked).toBeLessThanOrEqual(MOST_SORTED);
});
