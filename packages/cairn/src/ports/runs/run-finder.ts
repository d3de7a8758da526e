/**
 * Queries of users for runs of their tenant, besides the list: those with questions, counts by status, search by name.
 * Reads snapshots, which may lag behind a running run (J7), but not behind a question. No decision depends on them.
 */
import type { RunState } from '../../core/run/state.ts';
import type { RunOrder } from '../../core/search/order.ts';
import type { ListedRun, Page, PageRequest, RunFilter } from '../run-store.ts';

export type IndexedOrder = Extract<RunOrder, 'longest' | 'updated'>;

export interface RunFinder {
  /**
   * Runs in an order: `longest` has only ended runs, by `durationMs`; `updated` has all, by `updatedAt`. A filter by other members than
   * the tenant (for `longest` also the type) skips runs, like `topLevel`.
   */
  ordered(order: IndexedOrder, filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>>;
  /**
   * Runs with open questions (core/run/open-questions.ts), longest-waiting first. A page may be short if runs are marked for
   * deletion.
   */
  asking(tenantId: string, page: PageRequest): Promise<Page<RunState>>;
  /** Number of matching runs, at most `most`, including those marked for deletion. */
  count(filter: RunFilter, most: number): Promise<number>;
  /** Runs that have the name (core/search/found-by.ts), the newest first, at most `most`. */
  named(tenantId: string, name: string, most: number): Promise<readonly ListedRun[]>;
  /** Runs of the tenant among the first `most` of all runs whose id has the prefix, by id. */
  beginning(tenantId: string, prefix: string, most: number): Promise<readonly ListedRun[]>;
}
