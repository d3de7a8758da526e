/**
 * Writes a growing write-ahead log to the disk in the background. A checkpoint first waits until the disk has the whole log, in the middle of a
 * call; with this most of it is there already.
 *
 * Must not: count as a sync of commits. What is written meanwhile is not waited for.
 */
import { close, fdatasync, openSync } from 'node:fs';
import { logOf } from './witness.ts';

/** About 4 MiB of small documents: the disk needs a few ms for the rest. */
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

  /** Call after a commit. @param rows that it changed, of which nearly each is in a page of its own */
  wrote(rows: number): void {
    this.#rows += rows;
    // Elsewhere a sync waits for the cache of the disk too, which that of SQLite does not.
    if (this.#rows < ROWS || this.#isSyncing || process.platform !== 'linux') return;
    this.#rows = 0;
    try {
      this.#fd ??= openSync(this.#log, 'r');
    } catch {
      return; // The folder was removed, or the process has too many files: SQLite meets that itself, and says so.
    }
    this.#isSyncing = true;
    // A disk that cannot write says so to SQLite's own sync too, which fails the checkpoint.
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
