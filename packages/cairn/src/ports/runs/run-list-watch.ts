/**
 * Word of a list of runs, soon after it changes. What is told is always the whole list as it then is, so that nothing is
 * lost where several changes are told as one.
 */
import type { ListedRun, RunFilter } from '../run-store.ts';

export interface RunListObserver {
  /** The newest runs that match, the newest first: at first those that are there, then whenever that has changed. Must not throw. */
  onRuns(runs: readonly ListedRun[]): void;
  /** The watch has ended and tells nothing any more. Must not throw. */
  onError(error: unknown): void;
}

export interface RunListWatch {
  /**
   * Reads snapshots, as lists do: runs that are about to be deleted are not told, and make the list shorter.
   *
   * @param limit how many runs at the most; the caller bounds it
   * @returns what ends the watch; nothing is told after that
   */
  watchRuns(filter: RunFilter, limit: number, observer: RunListObserver): () => void;
}
