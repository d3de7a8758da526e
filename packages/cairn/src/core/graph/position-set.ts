/**
 * A small sorted set of positions (whole numbers), which stays sorted on insertion.
 *
 * Must not: know what a position refers to.
 */

/** Insert and delete search in O(log n) and move what follows, which for at most 10,000 small integers is one memmove. */
export class PositionSet {
  readonly #sorted: number[] = [];

  get size(): number {
    return this.#sorted.length;
  }

  /** The lowest positions, ascending, at most `limit` of them. */
  lowest(limit: number): readonly number[] {
    return this.#sorted.slice(0, limit);
  }

  add(position: number): void {
    const index = this.#search(position);
    if (this.#sorted[index] !== position) this.#sorted.splice(index, 0, position);
  }

  delete(position: number): void {
    const index = this.#search(position);
    if (this.#sorted[index] === position) this.#sorted.splice(index, 1);
  }

  /** Removes and returns the lowest position. */
  shift(): number | undefined {
    return this.#sorted.shift();
  }

  /** Index of the first position that is not lower. */
  #search(position: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? position) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
