import { expect, test } from '@jest/globals';
import { MOST_SORTED, sortedRuns } from '../../packages/cairn/src/operations/search/sorted-runs.ts';
import type { ListedRun, PageRequest } from '../../packages/cairn/src/ports/run-store.ts';

const clock = { now: () => 1_000_000 } as never;

/** A store with so many runs, the newest first, and the pages that were asked of it. */
function storeOf(count: number) {
  const asked: PageRequest[] = [];
  const store = {
    listRuns: async (_: unknown, page: PageRequest) => {
      asked.push(page);
      const from = Number(page.cursor ?? 0);
      const to = Math.min(count, from + page.limit);
      const items = Array.from({ length: to - from }, (_, i) => {
        const at = count - from - i;
        return { state: { id: `run_${at}`, createdAt: at, updatedAt: at, trigger: {}, threadId: 't' } };
      });
      return { items: items as unknown as ListedRun[], ...(to < count ? { next: String(to) } : {}) };
    },
  };
  return { store, asked };
}

test('a sorted list reads the newest thousand at most, and says that there are more', async () => {
  const { store, asked } = storeOf(MOST_SORTED + 1);
  const { items, isCut } = await sortedRuns(
    { store, clock },
    { tenantId: 't1' },
    { order: 'oldest', limit: 2 },
  );
  expect(items.map(({ state }) => state.id)).toEqual(['run_2', 'run_3']);
  expect(isCut).toBe(true);
  expect(asked.reduce((sum, { limit }) => sum + limit, 0)).toBe(MOST_SORTED);
});

test('a sorted list of no more than that is whole', async () => {
  const { store } = storeOf(MOST_SORTED);
  const sorted = await sortedRuns({ store, clock }, { tenantId: 't1' }, { order: 'oldest', limit: 1 });
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
    { store: { listRuns }, clock },
    { tenantId: 't1' },
    { order: 'updated', limit: 1 },
  );
  expect(sorted).toEqual({ items: [], isCut: true });
  expect(asked).toBeLessThanOrEqual(MOST_SORTED);
});
