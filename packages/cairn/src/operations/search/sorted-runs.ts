/**
 * Runs in another order than that of the list: the newest that match are read and sorted, since an index by a time that changes with
 * each snapshot would make every write dearer.
 */

import { isMatch } from '../../core/search/match.ts';
import type { RunOrder } from '../../core/search/order.ts';
import { sortedBy } from '../../core/search/order.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ListedRun, RunFilter, RunStore } from '../../ports/run-store.ts';

/** Runs that are read and sorted, and the pages that they may take: a page of large runs is short. */
export const MOST_SORTED = 1_000;
const MOST_PAGES = 100;
const PAGE = 100;

export interface SortedRuns {
  readonly items: readonly ListedRun[];
  /** Older runs were not read. */
  readonly isCut?: true | undefined;
  readonly unreadable?: readonly string[] | undefined;
}

export async function sortedRuns(
  { store, clock }: { readonly store: Pick<RunStore, 'listRuns'>; readonly clock: Clock },
  { match, topLevel, ...indexed }: RunFilter,
  { order, limit }: { readonly order: RunOrder; readonly limit: number },
): Promise<SortedRuns> {
  const now = clock.now();
  const unreadable: string[] = [];
  let items: readonly ListedRun[] = [];
  let cursor: string | undefined;
  let read = 0;
  for (let pages = 0; pages < MOST_PAGES && read < MOST_SORTED; pages += 1) {
    const size = Math.min(PAGE, MOST_SORTED - read);
    const page = await store.listRuns(indexed, { limit: size, cursor });
    const { unreadable: damaged = [] } = page;
    read += page.items.length + damaged.length;
    unreadable.push(...damaged);
    const fitting = page.items.filter(
      ({ state }) => !(topLevel && state.parent !== undefined) && (!match || isMatch(state, match)),
    );
    items = sortedBy(order, [...items, ...fitting], now).slice(0, limit);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  return {
    items,
    ...(cursor === undefined ? {} : { isCut: true as const }),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  };
}
