/**
 * Writes a growing write-ahead log to disk in the background, because a checkpoint blocks a call until the whole log is on disk. This way
 * most of it already is.
 *
 * Must not: count as a sync of commits, because it does not wait for later writes.
 */
import { close, fdatasync, openSync } from 'node:fs';
import { logOf } from './witness.ts';

/** Rows between two syncs: about 4 MiB of small documents, which take the disk a few ms. */
const ROWS = 1_000;

export class EarlySync {
  readonly #log: string;
  #fd: number | undefined;
  #rows = 0;
  #isSyncing = false;
  #isClosed = false;

  /** @param database file of a database in WAL mode */
  constructor(database: string) {
    this.#log = logOf(database);
  }

  /** Call after a commit. @param rows number of changed rows, most of which are in different pages */
  wrote(rows: number): void {
    this.#rows += rows;
    // Linux only: on other systems this sync waits for the disk's cache too, which SQLite's does not.
    if (this.#rows < ROWS || this.#isSyncing || process.platform !== 'linux') return;
    this.#rows = 0;
    try {
      this.#fd ??= openSync(this.#log, 'r');
    } catch {
      return; // The folder was removed, or the process has too many open files; SQLite reports that itself.
    }
    this.#isSyncing = true;
    // Errors are ignored, because SQLite's own sync gets them too and fails the checkpoint.
    fdatasync(this.#fd, () => {
      this.#isSyncing = false;
      if (this.#isClosed) this.#release();
    });
  }

  close(): void {
    this.#isClosed = true;
    if (!this.#isSyncing) this.#release();
  }

  #release(): void {
    if (this.#fd !== undefined) close(this.#fd, () => {});
    this.#fd = undefined;
  }
}
