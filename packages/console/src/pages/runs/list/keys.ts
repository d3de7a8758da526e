/** Query keys of the list, so that one invalidation reaches all of it. */
import type { RunListFilter } from '../filter/filter.ts';

/** Rows of a page: the most the API gives at once. */
export const PAGE = 100;

export function listKey(filter: RunListFilter): readonly unknown[] {
  return ['runs', 'list', filter];
}

export function pageKey(filter: RunListFilter, cursor: string | undefined): readonly unknown[] {
  return [...listKey(filter), cursor ?? 'first'];
}

export function countsKey({ type, repoId, threadId, tag }: RunListFilter): readonly unknown[] {
  return ['runs', 'counts', { type, repoId, threadId, tag }];
}
