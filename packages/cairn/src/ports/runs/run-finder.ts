/**
 * Queries of users for runs of their tenant besides the list: those with questions, counts by status, search by name.
 * Reads snapshots, which may lag behind a running run (J7), but never at a question; no decision is based on them.
 */
import type { RunState } from '../../core/run/state.ts';
import type { RunOrder } from '../../core/search/order.ts';
import type { ListedRun, Page, PageRequest, RunFilter } from '../run-store.ts';

export type IndexedOrder = Extract<RunOrder, 'longest' | 'updated'>;

export interface RunFinder {
  /**
   * Runs in an order: `longest` has only those that have ended, by `durationMs`; `updated` all, by `updatedAt`. A filter other than by
   * tenant, for `longest` also by type, passes runs over, as `topLevel` does.
   */
  ordered(order: IndexedOrder, filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>>;
  /**
   * Runs with open questions (core/run/open-questions.ts), longest-waiting first. A page may be short where runs are marked for
   * deletion.
   */
  asking(tenantId: string, page: PageRequest): Promise<Page<RunState>>;
  /** Number of matching runs, at most `most`, including those marked for deletion. */
  count(filter: RunFilter, most: number): Promise<number>;
  /** Runs that have the name (core/search/found-by.ts), the newest first, at most `most`. */
  named(tenantId: string, name: string, most: number): Promise<readonly ListedRun[]>;
  /** Runs of the tenant among the first `most` of all runs whose id begins so, in the order of their ids. */
  beginning(tenantId: string, prefix: string, most: number): Promise<readonly ListedRun[]>;
}
