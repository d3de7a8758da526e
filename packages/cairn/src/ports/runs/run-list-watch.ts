/**
 * Watch of a list of runs. Each report is the whole current list, so that nothing is lost if several changes are
 * combined.
 */
import type { ListedRun, RunFilter } from '../run-store.ts';

export interface RunListObserver {
  /** The newest matching runs, the newest first. Called with the existing ones, then after each change. Must not throw. */
  onRuns(runs: readonly ListedRun[]): void;
  /** The watch has failed and reports nothing more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunListWatch {
  /**
   * Reads snapshots, like lists do. Runs marked for deletion are omitted, which makes the list shorter.
   *
   * @param limit most runs; bounded by the caller
   * @returns function that ends the watch; nothing is reported after it
   */
  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void;
}
