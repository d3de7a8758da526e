/**
 * Finds the creation times of the oldest matching runs by counting, because the indexes of lists have the newest first. A count of a
 * thousand is billed as one read.
 */
import type { RunFilter } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';

/** Most counts for one list: a bisection of a time in ms takes about as many. */
export const MAX_COUNTS = 42;

/** Filters that find the oldest runs, in order; the given one if fewer than `most` match. */
interface OldestRuns {
  readonly windows: readonly RunFilter[];
  /** True if the filters find all runs that match. */
  readonly isAll: boolean;
}

/**
 * A window has fewer than `most` runs, and at least half as many. If more runs were created in one millisecond, the runs before it are
 * one window, and that millisecond is another.
 *
 * @param filter with members that a count supports
 * @param now epoch ms
 */
export async function oldestRuns(
  finder: Pick<RunFinder, 'count'>,
  filter: RunFilter,
  { most, now }: { readonly most: number; readonly now: number },
): Promise<OldestRuns> {
  if ((await finder.count(filter, most)) < most) return { windows: [filter], isAll: true };
  let few = filter.createdFrom ?? 0;
  let many = filter.createdBefore ?? Math.max(now, few) + 1;
  for (let counts = 1; many - few > 1 && counts < MAX_COUNTS; counts += 1) {
    const middle = Math.floor((few + many) / 2);
    const count = await finder.count({ ...filter, createdBefore: middle }, most);
    if (count >= most) many = middle;
    else few = middle;
    if (count < most && count >= most / 2)
      return { windows: [{ ...filter, createdBefore: few }], isAll: false };
  }
  const [before, crowded] = [
    { ...filter, createdBefore: few },
    { ...filter, createdFrom: few, createdBefore: many },
  ];
  return { windows: [before, crowded], isAll: false };
}
