/**
 * Cache of recently read large documents, for repeated lists. A read from SQLite copies a document twice, which was most of the cost of a
 * list of runs with many unread signals.
 */

/** Minimum size in bytes of a cached document. Reading a smaller one costs no more than a lookup. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Size of the cache in bytes: twice a page of sixty runs with many unread signals. */
const MAX_BYTES = 32 * 1024 * 1024;

interface KeptBody {
  readonly updateTime: number;
  readonly body: Uint8Array;
}

export class LargeBodies {
  /** Bodies by document id; the most recently read one is last. */
  readonly #bodies = new Map<number, KeptBody>();
  #bytes = 0;

  /** @param read reads the body from the storage */
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

  /** Call it after documents were replaced other than by a later update. */
  clear(): void {
    this.#bodies.clear();
    this.#bytes = 0;
  }

  #remove(id: number, { body }: KeptBody): void {
    this.#bodies.delete(id);
    this.#bytes -= body.length;
  }
}
