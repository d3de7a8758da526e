/**
 * Documents replaced by recent commits, for reads at a recent time, which clients use to repeat a read whose stream broke.
 * Limited by memory, not by production's hour; older reads are refused.
 */
import { Code, StatusError } from '../../model/status.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { Snapshot } from './snapshot.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ENTRIES = 50_000;
/** Least number of dropped entries at the front before the list is compacted. */
const SLACK = 1_000;

export interface Replaced {
  readonly name: string;
  /** Undefined: the document did not exist. */
  readonly stored: StoredDocument | undefined;
}

interface HistoryEntry extends Replaced {
  /** Time of the replacing commit; microseconds since 1970. */
  readonly time: number;
}

export class RecentHistory {
  /** Undefined for a dropped entry. */
  #entries: (HistoryEntry | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  /** Earliest moment that can be read. */
  #horizon: number;

  constructor(horizon: number) {
    this.#horizon = horizon;
  }

  record(time: number, replaced: readonly Replaced[]): void {
    for (const { name, stored } of replaced) {
      this.#entries.push({ time, name, stored });
      this.#bytes += stored?.body.length ?? 0;
    }
    while (this.#bytes > MAX_BYTES || this.#entries.length - this.#first > MAX_ENTRIES) this.#drop();
    // Compacts only once half of the list is dropped, because a copy after each thousand would cost more than recording.
    if (this.#first > Math.max(SLACK, this.#entries.length / 2)) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  reaches(time: number): boolean {
    return time >= this.#horizon;
  }

  /** @throws FAILED_PRECONDITION when the moment is not known */
  at(time: number): Snapshot {
    if (!this.reaches(time)) {
      throw new StatusError(
        Code.FAILED_PRECONDITION,
        'The requested snapshot version is too old: this server keeps only the last few thousand replaced documents.',
      );
    }
    const snapshot = new Snapshot(time);
    for (let i = this.#first; i < this.#entries.length; i++) {
      const entry = this.#entries[i] as HistoryEntry;
      if (entry.time > time) snapshot.replace(entry.name, entry.stored);
    }
    return snapshot;
  }

  #drop(): void {
    const entry = this.#entries[this.#first] as HistoryEntry;
    this.#entries[this.#first++] = undefined;
    this.#bytes -= entry.stored?.body.length ?? 0;
    this.#horizon = entry.time;
  }
}
