/** Orders of lists, and pages made of several sources. Pure. */
import type { ListedState } from './listed.ts';
import { PageRoom } from './page.ts';

/** Orders besides the default. */
export const RUN_ORDERS = ['oldest', 'longest', 'updated'] as const;
/** `longest`: by the duration, of a live run since its creation. `updated`: changed last first. */
export type RunOrder = (typeof RUN_ORDERS)[number];

/** `newest`: the default, by creation. */
type ListOrder = RunOrder | 'newest';

/** Sorts after every character of an id. */
export const LAST_ID = '~';

/**
 * A position in such a list: the time that orders it, in ms, and the id. For equal times, the greater id comes first, as in the
 * indexes of lists.
 */
export type OrderPlace = readonly [at: number, id: string];

type Ordered = Pick<ListedState, 'id' | 'createdAt' | 'updatedAt' | 'durationMs'>;

const PLACED: Readonly<Record<ListOrder, (run: Ordered, asOf: number) => number>> = {
  newest: ({ createdAt }) => createdAt,
  oldest: ({ createdAt }) => createdAt,
  longest: ({ durationMs, createdAt }, asOf) => durationMs ?? asOf - createdAt,
  updated: ({ updatedAt }) => updatedAt,
};

/** @param asOf epoch ms, current time for the duration of live runs; the same for all pages of a list */
export function placeIn(order: ListOrder, run: Ordered, asOf: number): OrderPlace {
  return [PLACED[order](run, asOf), run.id];
}

/** Negative if `a` comes first. */
export function comparePlaces(order: ListOrder, [a, idOfA]: OrderPlace, [b, idOfB]: OrderPlace): number {
  const byTime = order === 'oldest' ? a - b : b - a;
  return byTime || (idOfA > idOfB ? -1 : idOfA < idOfB ? 1 : 0);
}

/** @param asOf see {@link placeIn} */
export function sortedBy<T extends { readonly state: Ordered }>(
  order: ListOrder,
  runs: readonly T[],
  asOf: number,
): readonly T[] {
  return runs.toSorted((a, b) =>
    comparePlaces(order, placeIn(order, a.state, asOf), placeIn(order, b.state, asOf)),
  );
}

/** Runs that were read from one source, in any order. */
export interface OrderedPart<T> {
  readonly items: readonly T[];
  /** The runs of the source are complete up to this place; absent: the source has no more. */
  readonly until?: OrderPlace | undefined;
}

interface MergedPage<T> {
  readonly items: readonly T[];
  /** Position after which the next page begins; absent: this is the last page. */
  readonly until?: OrderPlace | undefined;
}

/**
 * Merges several sources into one page. The page ends at the first position up to which all sources are complete. A run in two
 * sources appears once.
 */
export function mergedPage<T extends { readonly state: Ordered }>(
  parts: readonly OrderedPart<T>[],
  { order, asOf, limit }: { readonly order: ListOrder; readonly asOf: number; readonly limit: number },
): MergedPage<T> {
  const ends = parts.flatMap(({ until }) => (until ? [until] : []));
  const [end] = ends.toSorted((a, b) => comparePlaces(order, a, b));
  const placeOf = ({ state }: T) => placeIn(order, state, asOf);
  const each = new Map(parts.flatMap(({ items }) => items).map((run) => [run.state.id, run]));
  const known = sortedBy(order, [...each.values()], asOf).filter(
    (run) => !end || comparePlaces(order, placeOf(run), end) <= 0,
  );
  const room = new PageRoom(limit);
  const full = known.findIndex((run) => !room.take(run));
  const items = full < 0 ? known : known.slice(0, full);
  const last = items.at(-1);
  const until = full < 0 ? end : last && placeOf(last);
  return { items, ...(until && { until }) };
}
