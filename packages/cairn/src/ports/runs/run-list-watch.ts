/**
 * Watch of a list of runs. Each report is the whole current list, so that nothing is lost if several changes are
 * combined.
 */
import type { ListedRun, RunFilter } from '../run-store.ts';

export interface RunListObserver {
  /** The newest runs that match, the newest first: at first those that are there, then whenever that has changed. Must not throw. */
  onRuns(runs: readonly ListedRun[]): void;
  /** The watch has ended and reports nothing any more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunListWatch {
  /**
   * Reads snapshots, as lists do: runs marked for deletion are omitted, and make the list shorter.
   *
   * @param limit most runs; bounded by the caller
   * @returns function that ends the watch; nothing is reported after it
   */
  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void;
}
