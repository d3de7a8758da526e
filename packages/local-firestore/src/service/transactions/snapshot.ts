/**
 * One moment of a database, for a read-only or optimistic transaction: what later commits replaced is kept here, and reads look here
 * first. Costs nothing while no such transaction is open. Owns the replaced documents only.
 */
import type { StoredDocument } from '../../storage/document-storage.ts';

/** Most replaced documents per snapshot; a reader this far behind must restart. */
const MAX_REPLACED = 100_000;

export class Snapshot {
  /** Microseconds since 1970: sees every commit up to here. */
  readonly time: number;
  readonly #replaced = new Map<string, StoredDocument | undefined>();

  constructor(time: number) {
    this.time = time;
  }

  /** True when it has had to keep too much to be kept any longer. */
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

  /** Every document that was replaced since, as it was at the moment. */
  replaced(): Iterable<readonly [string, StoredDocument | undefined]> {
    return this.#replaced;
  }

  /** Documents that were other than they are now. */
  *documents(): Generator<StoredDocument> {
    for (const stored of this.#replaced.values()) if (stored) yield stored;
  }
}
