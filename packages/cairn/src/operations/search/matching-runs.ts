/**
 * Pages of runs that match, the newest first. Uses the index of matches, and for runs from before the index reads the runs that the
 * other filters find.
 */
import { WAITS_FOR } from '../../core/run/now/waits-for.ts';
import type { RunStatus } from '../../core/run/status.ts';
import { decodeCursor, encodeCursor } from '../../core/search/cursor.ts';
import { entriesFor, MAX_COMBINATIONS } from '../../core/search/match-index.ts';
import { LAST_ID, mergedPage } from '../../core/search/order.ts';
import type { ListedRun, Page, PageRequest, RunFilter, RunStore } from '../../ports/run-store.ts';
import type { IndexedRuns } from './indexed-runs.ts';

export interface MatchingDeps {
  readonly store: Pick<RunStore, 'listRuns'>;
  readonly indexedRuns: Pick<IndexedRuns, 'since'>;
}

/** Also works without `match`. A page can be short or empty although there is a next one. */
export async function matchingRuns(
  { store, indexedRuns }: MatchingDeps,
  filter: RunFilter,
  page: PageRequest,
): Promise<Page<ListedRun>> {
  const filters = indexedFilters(filter);
  if (!filters) return store.listRuns(filter, page);
  const { tenantId, createdFrom = 0, createdBefore = Number.POSITIVE_INFINITY } = filter;
  const since = await indexedRuns.since(tenantId);
  if (since === Number.POSITIVE_INFINITY) return store.listRuns(filter, page);
  const unindexed = { ...filter, createdBefore: Math.min(since, createdBefore) };
  const hasUnindexed = createdFrom < unindexed.createdBefore;
  const isPastIndex = createdBefore <= since || (page.cursor !== undefined && isBefore(page.cursor, since));
  if (hasUnindexed && isPastIndex) return store.listRuns(unindexed, page);
  const from = since > 0 ? { createdFrom: Math.max(createdFrom, since) } : {};
  const found = await Promise.all(filters.map((one) => store.listRuns({ ...one, ...from }, page)));
  const indexed = newestOf(found, page.limit);
  if (!hasUnindexed || indexed.next !== undefined) return indexed;
  const { items, unreadable = [] } = indexed;
  const limit = page.limit - items.length - unreadable.length;
  if (limit <= 0) return { ...indexed, next: encodeCursor('runs', [since, LAST_ID]) };
  const { next, ...rest } = await store.listRuns(unindexed, { limit });
  return pageOf([...items, ...rest.items], [...unreadable, ...(rest.unreadable ?? [])], next);
}

/** The same filter with the index, if one query of the index finds all matching runs. */
export async function byIndex(
  { indexedRuns }: Pick<MatchingDeps, 'indexedRuns'>,
  filter: RunFilter,
): Promise<RunFilter> {
  const [only, ...others] = indexedFilters(filter) ?? [];
  if (!only || others.length > 0) return filter;
  return (await indexedRuns.since(filter.tenantId)) === 0 ? only : filter;
}

/**
 * Filters by entries of the index, which together find the same runs as the given one. A query combines its entries with each status.
 * Undefined if no index finds the runs. A query has either a tag or an entry, so with both the runs of the tag are read.
 */
function indexedFilters(filter: RunFilter): readonly RunFilter[] | undefined {
  const { match, tag, status, stopKind = [] } = filter;
  if (!match || tag !== undefined) return undefined;
  const room = Math.floor(MAX_COMBINATIONS / Math.max(1, stopKind.length));
  const among = entriesFor(match, status === undefined ? room : Math.floor(room / 2));
  if (!among) return undefined;
  if (status === undefined) return [{ ...filter, among }];
  const most = Math.floor(room / among.length);
  const groups: RunStatus[][] = [];
  let taken = most;
  for (const one of [status].flat()) {
    // A run is also found by the status that its waits alone would give it.
    const words = WAITS_FOR.some((word) => word === one) ? 2 : 1;
    if (taken + words > most) groups.push([]);
    taken = taken + words > most ? words : taken + words;
    groups.at(-1)?.push(one);
  }
  return groups.map((some) => ({ ...filter, among, status: some }));
}

function newestOf(pages: readonly Page<ListedRun>[], limit: number): Page<ListedRun> {
  const [only, ...others] = pages;
  if (only && others.length === 0) return only;
  const parts = pages.map(({ items, next }) => ({
    items,
    until: next === undefined ? undefined : decodeCursor('runs', next),
  }));
  const { items, until } = mergedPage(parts, { order: 'newest', asOf: 0, limit });
  const unreadable = [...new Set(pages.flatMap((page) => page.unreadable ?? []))];
  return pageOf(items, unreadable, until && encodeCursor('runs', until));
}

function pageOf(
  items: readonly ListedRun[],
  unreadable: readonly string[],
  next: string | undefined,
): Page<ListedRun> {
  return { items, next, ...(unreadable.length > 0 ? { unreadable } : {}) };
}

function isBefore(cursor: string, since: number): boolean {
  const [at, id] = decodeCursor('runs', cursor);
  return at < since || (at === since && id === LAST_ID);
}
