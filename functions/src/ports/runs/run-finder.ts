/**
 * How people find runs of their tenant other than by the list: which ask them something. Reads snapshots, which may lag
 * behind a driven run (J7), but never at a question; nothing is decided by the answers.
 */
import type { RunState } from '../../core/run/state.ts';
import type { Page, PageRequest } from '../run-store.ts';

export interface RunFinder {
  /**
   * Runs that ask a person something (core/run/asking.ts), who has asked for the longest first. A page has fewer than it
   * could where some are about to be deleted.
   */
  asking(tenantId: string, page: PageRequest): Promise<Page<RunState>>;
}
