/** Orders of lists besides the usual one, the newest first. Pure. */
import type { ListedState } from './listed.ts';

export const RUN_ORDERS = ['oldest', 'longest', 'updated'] as const;
/** `longest`: by the duration, of a live run so far. `updated`: changed last first. */
export type RunOrder = (typeof RUN_ORDERS)[number];

type Ordered = Pick<ListedState, 'id' | 'createdAt' | 'updatedAt' | 'durationMs'>;

/** Runs that are equal stand by their ids. @param now epoch ms */
export function sortedBy<T extends { readonly state: Ordered }>(
  order: RunOrder,
  runs: readonly T[],
  now: number,
): readonly T[] {
  const rank: Readonly<Record<RunOrder, (run: Ordered) => number>> = {
    oldest: ({ createdAt }) => createdAt,
    longest: ({ durationMs, createdAt }) => -(durationMs ?? now - createdAt),
    updated: ({ updatedAt }) => -updatedAt,
  };
  const of = rank[order];
  return runs.toSorted((a, b) => of(a.state) - of(b.state) || (a.state.id < b.state.id ? -1 : 1));
}
