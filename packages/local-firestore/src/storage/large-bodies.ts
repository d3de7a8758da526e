/**
 * Cache of the large documents that were read last, for repeated lists: a read from SQLite copies a document twice, which was most
 * of the cost of a list of runs with many unread signals.
 */

/** Minimum size in bytes of a cached document: reading a smaller one costs as much as a lookup. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Size of the cache in bytes: twice a page of sixty runs with many unread signals. */
const MAX_BYTES = 32 * 1024 * 1024;

interface KeptBody {
  readonly updateTime: number;
  readonly body: Uint8Array;
}

export class LargeBodies {
  /** By id of the document, the one that was read last at the end. */
  readonly #bodies = new Map<number, KeptBody>();
  #bytes = 0;

  /** @param read reads it from the storage */
  of(id: number, updateTime: number, read: () => Uint8Array): Uint8Array {
    const known = this.#bodies.get(id);
    if (known) this.#remove(id, known);
    const body = known?.updateTime === updateTime ? known.body : read();
    this.#bodies.set(id, { updateTime, body });
    this.#bytes += body.length;
    for (const [oldest, kept] of this.#bodies) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest, kept);
    }
    return body;
  }

  /** Call it after documents were replaced other than by an update of a later time. */
  clear(): void {
    this.#bodies.clear();
    this.#bytes = 0;
  }

  #remove(id: number, { body }: KeptBody): void {
    this.#bodies.delete(id);
    this.#bytes -= body.length;
  }
}
