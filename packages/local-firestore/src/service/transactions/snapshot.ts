/**
 * One moment of a database, for a read-only or optimistic transaction. Keeps the documents that later commits replace, and reads use
 * these first. Costs nothing while no such transaction is open.
 */
import type { StoredDocument } from '../../storage/document-storage.ts';

/** Most replaced documents of a snapshot; beyond it a reader must restart. */
const MAX_REPLACED = 100_000;

export class Snapshot {
  /** Microseconds since 1970: sees every commit up to here. */
  readonly time: number;
  readonly #replaced = new Map<string, StoredDocument | undefined>();

  constructor(time: number) {
    this.time = time;
  }

  /** True once it has more than the limit. */
  get overflown(): boolean {
    return this.#replaced.size > MAX_REPLACED;
  }

  /** Only the first replacement after the moment counts. `stored` undefined: the document did not exist. */
  replace(name: string, stored: StoredDocument | undefined): void {
    if (!this.#replaced.has(name)) this.#replaced.set(name, stored);
  }

  has(name: string): boolean {
    return this.#replaced.has(name);
  }

  get(name: string): StoredDocument | undefined {
    return this.#replaced.get(name);
  }

  /** All documents replaced since, in their state of the moment. */
  replaced(): Iterable<readonly [string, StoredDocument | undefined]> {
    return this.#replaced;
  }

  /** Existing documents of the moment that were replaced since. */
  *documents(): Generator<StoredDocument> {
    for (const stored of this.#replaced.values()) if (stored) yield stored;
  }
}
