/** Query keys of the list, so that one invalidation reaches all of it. */
import type { RunListFilter } from '../filter/filter.ts';

/** Rows of a page: the most the API gives at once. */
export const PAGE = 100;

/** Time for which the start and length of a closed list are kept, so that Back can restore the scroll position, ms. */
export const LIST_KEPT_MS = 30 * 60_000;

export function listKey(filter: RunListFilter): readonly unknown[] {
  return ['runs', 'list', filter];
}

export function pageKey(filter: RunListFilter, cursor: string | undefined): readonly unknown[] {
  return [...listKey(filter), cursor ?? 'first'];
}

/** Beginning of the keys of {@link chainKey}. */
export const CHAINS = ['runs', 'chain'] as const;

/** Key of the lengths of the pages after the first, which stay valid when the pages are reread. */
export function chainKey(filter: RunListFilter): readonly unknown[] {
  return [...CHAINS, filter];
}

export function countsKey({ type, repoId, threadId, tag }: RunListFilter): readonly unknown[] {
  return ['runs', 'counts', { type, repoId, threadId, tag }];
}
