/**
 * Pages of runs in other orders than that of the list. The oldest runs are found by counting (oldest-runs.ts); an index has the ended
 * runs by duration and all runs by change. The longest live runs are the oldest, so a page by duration merges both.
 */
import { CairnError } from '../../core/errors.ts';
import { isTerminal, RUN_STATUSES, type RunStatus } from '../../core/run/status.ts';
import {
  decodeCursor,
  decodeSortedCursor,
  encodeCursor,
  encodeSortedCursor,
  type SortedPosition,
} from '../../core/search/cursor.ts';
import { isMatch } from '../../core/search/match.ts';
import {
  comparePlaces,
  LAST_ID,
  mergedPage,
  type OrderedPart,
  type OrderPlace,
  placeIn,
  type RunOrder,
} from '../../core/search/order.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ListedRun, Page, PageRequest, RunFilter, RunStore } from '../../ports/run-store.ts';
import type { IndexedOrder, RunFinder } from '../../ports/runs/run-finder.ts';
import { oldestRuns } from './oldest-runs.ts';

/** Runs read and sorted for one page. */
export const MAX_SORTED = 1_000;
const PAGE = 100;

interface SortingDeps {
  readonly store: Pick<RunStore, 'listRuns'>;
  readonly finder: Pick<RunFinder, 'count' | 'ordered'>;
  readonly clock: Clock;
}

interface Sorting {
  readonly filter: RunFilter;
  readonly order: RunOrder;
  readonly limit: number;
  readonly asOf: number;
  readonly after: OrderPlace | undefined;
}

interface RunsPart extends OrderedPart<ListedRun> {
  readonly unreadable: readonly string[];
}

/**
 * A page can be short or empty although there is a next one. A run that moves between two pages may be on both or on neither.
 *
 * @throws CairnError INVALID_INPUT for the cursor of another list
 */
export async function sortedRuns(
  deps: SortingDeps,
  filter: RunFilter,
  { order, limit, cursor }: PageRequest & { readonly order: RunOrder },
): Promise<Page<ListedRun>> {
  const { asOf, after }: Partial<SortedPosition> & { readonly asOf: number } =
    cursor === undefined ? { asOf: deps.clock.now() } : decodeSortedCursor(order, cursor);
  const parts = await partsOf(deps, { filter, order, limit, asOf, after });
  const isAfterCursor = ({ state }: ListedRun) =>
    after === undefined || comparePlaces(order, placeIn(order, state, asOf), after) > 0;
  const left = parts.map((part) => ({ ...part, items: part.items.filter(isAfterCursor) }));
  const { items, until } = mergedPage(left, { order, asOf, limit });
  const unreadable = [...new Set(parts.flatMap((part) => part.unreadable))];
  return {
    items,
    ...(until ? { next: encodeSortedCursor(order, { asOf, after: until }) } : {}),
    ...(unreadable.length > 0 ? { unreadable } : {}),
  };
}

async function partsOf(deps: SortingDeps, sorting: Sorting): Promise<readonly RunsPart[]> {
  if (sorting.order === 'oldest') return [await oldestPart(deps, sorting)];
  const few = await fewRuns(deps, sorting.filter);
  if (few) return [few];
  if (sorting.order === 'updated') return [await indexedPart(deps, { ...sorting, order: 'updated' })];
  const statuses = sorting.filter.status === undefined ? RUN_STATUSES : [sorting.filter.status].flat();
  const live = statuses.filter((status) => !isTerminal(status));
  const parts: RunsPart[] = [];
  if (live.length > 0)
    parts.push(await oldestPart(deps, { ...sorting, filter: { ...sorting.filter, status: oneOrAll(live) } }));
  // Read after the live runs, so that a run that ends meanwhile is on the page.
  if (live.length < statuses.length) parts.push(await indexedPart(deps, { ...sorting, order: 'longest' }));
  return parts;
}

const oneOrAll = (statuses: readonly RunStatus[]) => (statuses.length === 1 ? statuses[0] : statuses);

/** All matching runs, if an index finds so few that they can be sorted here; undefined: too many, or the filter selects only the tenant. */
async function fewRuns({ store, finder }: SortingDeps, filter: RunFilter): Promise<RunsPart | undefined> {
  const { match: _, topLevel: __, ...indexed } = filter;
  const { tenantId: ___, ...narrowed } = indexed;
  if (Object.values(narrowed).every((value) => value === undefined)) return undefined;
  if ((await finder.count(indexed, MAX_SORTED)) >= MAX_SORTED) return undefined;
  const read = await readRuns(store, filter, { most: MAX_SORTED });
  return read.until === undefined ? read : undefined;
}

/** The next runs of an order that has an index. */
async function indexedPart(
  { finder }: SortingDeps,
  { filter, order, limit, after }: Sorting & { readonly order: IndexedOrder },
): Promise<RunsPart> {
  // Durations are never negative, so no ended run is left.
  if (after && after[0] < 0) return NOTHING_LEFT;
  const cursor = after && encodeCursor(order, after);
  const { items, next, unreadable = [] } = await finder.ordered(order, filter, { limit, cursor });
  return { items, unreadable, until: next === undefined ? undefined : decodeCursor(order, next) };
}

const NOTHING_LEFT: RunsPart = { items: [], unreadable: [] };

/** The next runs by creation, the oldest first. */
async function oldestPart(deps: SortingDeps, sorting: Sorting): Promise<RunsPart> {
  const parts: RunsPart[] = [];
  let found = 0;
  for await (const part of oldestParts(deps, sorting)) {
    parts.push(part);
    found += part.items.length;
    if (part.until || found > sorting.limit) break;
  }
  return {
    items: parts.flatMap(({ items }) => items),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
    until: parts.at(-1)?.until,
  };
}

/**
 * Runs created at one moment may be more than can be read, so they are read in their order. Otherwise a window is read as a whole,
 * because the store has the newest first. Only the last part has `until`.
 */
async function* oldestParts(
  { store, finder, clock }: SortingDeps,
  { filter, order, asOf, after }: Sorting,
): AsyncGenerator<RunsPart> {
  const placeAt = (createdAt: number): number => (order === 'longest' ? asOf - createdAt : createdAt);
  async function* ofMoment(at: number, id: string): AsyncGenerator<RunsPart> {
    const moment = within(filter, at, at + 1);
    if (!moment) return;
    const cursor = encodeCursor('runs', [at, id]);
    const { until, ...read } = await readRuns(store, moment, { most: MAX_SORTED, cursor });
    yield { ...read, until: until && [placeAt(at), until[1]] };
  }
  const begun = after && placeAt(after[0]);
  if (begun !== undefined && begun >= 0) yield* ofMoment(begun, after?.[1] ?? LAST_ID);
  const rest = within(filter, begun === undefined ? 0 : begun + 1, Number.POSITIVE_INFINITY);
  if (!rest) return;
  const { match, topLevel, ...indexed } = rest;
  const { windows, isAll } = await oldestRuns(finder, indexed, { most: MAX_SORTED, now: clock.now() });
  for (const { createdFrom = 0, createdBefore } of windows) {
    const isMoment = windows.length > 1 && createdBefore === createdFrom + 1;
    if (isMoment) yield* ofMoment(createdFrom, LAST_ID);
    else yield whole(await readRuns(store, { ...rest, createdFrom, createdBefore }, { most: MAX_SORTED }));
  }
  const { createdBefore: known } = windows.at(-1) ?? {};
  if (!isAll && known !== undefined) yield { ...NOTHING_LEFT, until: [placeAt(known), LAST_ID] };
}

function whole(part: RunsPart): RunsPart {
  if (part.until === undefined) return part;
  throw new CairnError('UNAVAILABLE', 'more runs came to match while the list was read; ask again');
}

/** The filter restricted to a time; undefined if it matches no runs of that time. */
function within(filter: RunFilter, from: number, before: number): RunFilter | undefined {
  const createdFrom = Math.max(filter.createdFrom ?? 0, from);
  const createdBefore = Math.min(filter.createdBefore ?? Number.POSITIVE_INFINITY, before);
  if (createdFrom >= createdBefore) return undefined;
  return { ...filter, createdFrom, ...(Number.isFinite(createdBefore) ? { createdBefore } : {}) };
}

/**
 * Matching runs, the newest first, from those that indexes find. `until` is the last that was read, if there are more.
 *
 * @param most number of runs read, and of pages: a page of large runs is short
 */
async function readRuns(
  store: Pick<RunStore, 'listRuns'>,
  { match, topLevel, ...indexed }: RunFilter,
  { most, cursor: begin }: { readonly most: number; readonly cursor?: string },
): Promise<RunsPart> {
  const items: ListedRun[] = [];
  const unreadable: string[] = [];
  let cursor = begin;
  let read = 0;
  let pages = 0;
  do {
    const limit = Math.min(PAGE, most - read);
    const page = await store.listRuns(indexed, { limit, ...(cursor === undefined ? {} : { cursor }) });
    const { unreadable: damaged = [] } = page;
    read += page.items.length + damaged.length;
    pages += 1;
    unreadable.push(...damaged);
    items.push(
      ...page.items.filter(
        ({ state }) => !(topLevel && state.parent !== undefined) && (!match || isMatch(state, match)),
      ),
    );
    cursor = page.next;
  } while (cursor !== undefined && pages < most && read < most);
  return { items, unreadable, until: cursor === undefined ? undefined : decodeCursor('runs', cursor) };
}
