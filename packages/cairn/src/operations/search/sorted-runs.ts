/**
 * Runs in another order than that of the list. The oldest are found by counting (oldest-runs.ts); for the other orders the newest that
 * match are read and sorted, since an index by a time that changes with each snapshot would make every write dearer.
 */

import { isMatch } from '../../core/search/match.ts';
import type { RunOrder } from '../../core/search/order.ts';
import { sortedBy } from '../../core/search/order.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ListedRun, RunFilter, RunStore } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { oldestRuns } from './oldest-runs.ts';

/** Runs that are read and sorted, and the pages that they may take: a page of large runs is short. */
export const MOST_SORTED = 1_000;
const MOST_PAGES = 100;
const PAGE = 100;

export interface SortedRuns {
  readonly items: readonly ListedRun[];
  /** Runs that were not read could stand in the list. */
  readonly isCut?: true;
  readonly unreadable?: readonly string[];
}

interface SortingDeps {
  readonly store: Pick<RunStore, 'listRuns'>;
  readonly finder: Pick<RunFinder, 'count'>;
  readonly clock: Clock;
}

export async function sortedRuns(
  { store, finder, clock }: SortingDeps,
  { match, topLevel, ...others }: RunFilter,
  { order, limit }: { readonly order: RunOrder; readonly limit: number },
): Promise<SortedRuns> {
  const now = clock.now();
  const { windows, isAll } =
    order === 'oldest'
      ? await oldestRuns(finder, others, { most: MOST_SORTED, now })
      : { windows: [others], isAll: true };
  const unreadable: string[] = [];
  let items: readonly ListedRun[] = [];
  let cursor: string | undefined;
  let read = 0;
  let pages = 0;
  for (const indexed of windows) {
    // Runs of the next window are newer.
    if (items.length >= limit || cursor !== undefined) break;
    do {
      const size = Math.min(PAGE, MOST_SORTED - read);
      const page = await store.listRuns(indexed, {
        limit: size,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const { unreadable: damaged = [] } = page;
      read += page.items.length + damaged.length;
      pages += 1;
      unreadable.push(...damaged);
      const fitting = page.items.filter(
        ({ state }) => !(topLevel && state.parent !== undefined) && (!match || isMatch(state, match)),
      );
      items = sortedBy(order, [...items, ...fitting], now).slice(0, limit);
      cursor = page.next;
    } while (cursor !== undefined && pages < MOST_PAGES && read < MOST_SORTED);
  }
  const isCut = cursor !== undefined || (!isAll && items.length < limit);
  return {
    items,
    ...(isCut ? { isCut } : {}),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  };
}
