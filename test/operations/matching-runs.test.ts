import { describe, expect, test } from '@jest/globals';
import { WAITS_FOR } from '../../packages/cairn/src/core/run/now/waits-for.ts';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';
import { matchOf } from '../../packages/cairn/src/core/search/match.ts';
import { INDEXED } from '../../packages/cairn/src/core/search/match-index.ts';
import { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { MemoryRunFinder } from '../../packages/cairn/src/memory/memory-run-finder.ts';
import { MemoryRunStore } from '../../packages/cairn/src/memory/memory-run-store.ts';
import { IndexedRuns } from '../../packages/cairn/src/operations/search/indexed-runs.ts';
import { byIndex, matchingRuns } from '../../packages/cairn/src/operations/search/matching-runs.ts';
import type { RunFilter } from '../../packages/cairn/src/ports/run-store.ts';
import { beginning, T0 } from '../conformance/support/run-fixture.ts';

const DAY_MS = 86_400_000;
const tenantId = 'acme';
const match = matchOf('amount>100');

/** Runs with these amounts, a day apart. Those before `since` were created by a version without entries. */
async function shelf(amounts: readonly number[], since = 0) {
  const db = new MemoryDatabase({ now: () => T0 + amounts.length * DAY_MS });
  const runs = new MemoryRunStore(db);
  for (const [i, amount] of amounts.entries()) {
    await runs.start(
      beginning(`run_${i}`, { at: T0 + i * DAY_MS, identity: { tags: [`amount:${amount}`] } }),
    );
    const run = db.runs.get(`run_${i}`);
    if (run && i < since) run.foundBy = run.foundBy.filter((name) => !name.startsWith(INDEXED));
  }
  const asked: RunFilter[] = [];
  let counts = 0;
  const finder = new MemoryRunFinder(db);
  const counting = {
    count: (filter: RunFilter, most: number) => {
      counts += 1;
      return finder.count(filter, most);
    },
  };
  const indexedRuns = new IndexedRuns(counting, { now: () => db.now() });
  const store = {
    listRuns: (filter: RunFilter, page: { readonly limit: number; readonly cursor?: string | undefined }) => {
      asked.push(filter);
      return runs.listRuns(filter, page);
    },
  };
  const deps = { store, indexedRuns };
  const pages = async (limit: number, filter: Partial<RunFilter> = {}) => {
    const found: string[] = [];
    for (let cursor: string | undefined, n = 0; ; n += 1) {
      const page = await matchingRuns(deps, { tenantId, match, ...filter }, { limit, cursor });
      found.push(...page.items.map(({ state }) => state.id));
      if (page.next === undefined) return found;
      expect(n).toBeLessThan(50);
      cursor = page.next;
    }
  };
  return { deps, indexedRuns, asked, pages, counts: () => counts };
}

const AMOUNTS = [500, 1, 200, 99, 100, 101, 3, 1_000];
const MATCHING = ['run_7', 'run_5', 'run_2', 'run_0'];

describe('runs that match', () => {
  test('are found by the index alone where all have entries', async () => {
    const { pages, asked, indexedRuns } = await shelf(AMOUNTS);
    for (const limit of [1, 2, 3, 10]) expect(await pages(limit)).toEqual(MATCHING);
    expect(asked.every(({ among }) => among !== undefined)).toBe(true);
    expect(await indexedRuns.since(tenantId)).toBe(0);
    expect(await byIndex({ indexedRuns }, { tenantId, match })).toHaveProperty('among');
  });

  test.each([1, 4, 7])('are found once each, in order, where the first %d have none', async (since) => {
    const { pages, asked, indexedRuns } = await shelf(AMOUNTS, since);
    const from = await indexedRuns.since(tenantId);
    expect(from).toBeGreaterThan(T0 + since * DAY_MS);
    expect(from).toBeLessThan(T0 + (since + 0.1) * DAY_MS);
    for (const limit of [1, 2, 3, 10]) expect(await pages(limit)).toEqual(MATCHING);
    // Runs with entries are found by the index and not read otherwise.
    for (const { among, createdBefore } of asked)
      if (among === undefined) expect(createdBefore).toBeLessThanOrEqual(from);
    expect(await pages(2, { createdFrom: T0 + DAY_MS, createdBefore: T0 + 7 * DAY_MS })).toEqual([
      'run_5',
      'run_2',
    ]);
    expect(await pages(2, { createdBefore: T0 + 1 })).toEqual(['run_0']);
    expect(await byIndex({ indexedRuns }, { tenantId, match })).not.toHaveProperty('among');
  });

  test('are read as before where no run has entries', async () => {
    const none = await shelf(AMOUNTS, AMOUNTS.length);
    expect(await none.indexedRuns.since(tenantId)).toBe(Number.POSITIVE_INFINITY);
    expect(await none.pages(2)).toEqual(MATCHING);
    expect(none.asked.every(({ among }) => among === undefined)).toBe(true);
    const empty = await shelf([]);
    expect(await empty.pages(2)).toEqual([]);
    expect(await empty.indexedRuns.since(tenantId)).toBe(0);
  });

  test('are found among the runs of a tag', async () => {
    const { pages, asked } = await shelf(AMOUNTS);
    expect(await pages(10, { tag: 'amount:101' })).toEqual(['run_5']);
    expect(asked).toEqual([expect.not.objectContaining({ among: expect.anything() })]);
  });

  test('of several statuses are merged, since Firestore combines each entry with each status and its waits', async () => {
    const statuses = RUN_STATUSES.filter((status) => status !== 'completed');
    for (const [since, stopKind] of [
      [0, undefined],
      [3, undefined],
      [0, ['user', 'halt']],
    ] as const) {
      const { pages, asked } = await shelf(AMOUNTS, since);
      const expected = stopKind === undefined ? MATCHING : [];
      for (const limit of [1, 2, 10])
        expect(await pages(limit, { status: statuses, stopKind })).toEqual(expected);
      expect(asked.some(({ among }) => among !== undefined)).toBe(true);
      for (const { among = [], status = [], stopKind: kinds = [''] } of asked) {
        const words = [status].flat();
        const waits = words.filter((one) => WAITS_FOR.some((word) => word === one));
        expect(among.length * (words.length + waits.length) * kinds.length).toBeLessThanOrEqual(30);
      }
    }
  });

  test.each([
    [0, 50],
    [3, 25],
  ])('need few count queries, once an hour, where the first %d have no entries', async (since, most) => {
    const { pages, counts } = await shelf(AMOUNTS, since);
    await pages(1);
    expect(counts()).toBeLessThan(most);
    const before = counts();
    await pages(2);
    expect(counts()).toBe(before);
  });
});
