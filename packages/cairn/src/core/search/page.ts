/** Decides how much of a list one page holds. Pure. */
import { weightOf } from '../encoding/weight.ts';

/**
 * Bytes of the items of one page. A page ends before the item that would exceed it, but has at least one item: no item is larger
 * than a document (1 MiB). Forty pages at a time are 160 MiB, which an instance of 512 MiB can hold.
 */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A page of the default size (20) is one read. */
const FIRST_READ = 21;
/** A single large item must not cause many small reads for the rest. */
const MIN_READ = 8;
/** Small items may be followed by large ones: then up to 40 MiB are read unnecessarily. */
const MAX_READ = 40;

/** Takes items in their order for as long as they fit. */
export class PageRoom {
  readonly #limit: number;
  #items = 0;
  #bytes = 0;
  #largest = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False if the item belongs to the next page. */
  take(item: unknown): boolean {
    if (this.#items >= this.#limit) return false;
    const bytes = weightOf(item);
    if (this.#items > 0 && this.#bytes + bytes > MAX_PAGE_BYTES) return false;
    this.#items += 1;
    this.#bytes += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    return true;
  }

  /** Number of items to read next, about as many as fit. One item beyond the limit shows whether there are more. */
  get wanted(): number {
    const left = this.#limit + 1 - this.#items;
    if (this.#items === 0) return Math.min(left, FIRST_READ);
    const capacity = Math.floor((MAX_PAGE_BYTES - this.#bytes) / Math.max(this.#largest, 1));
    return Math.min(left, Math.max(MIN_READ, Math.min(capacity, MAX_READ)));
  }
}
