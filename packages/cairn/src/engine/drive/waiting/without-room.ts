/**
 * Executions whose question did not fit among the open waits. Such a one is tried again when a wait has ended, and not by
 * the clock: until then nothing can change, so nothing is appended. For each open wait that ends one is tried again, which
 * bounds what they append by what people answer.
 *
 * Must not: start an execution.
 */

/** Approximate upper bound of a question about an effect; an earlier drive did not record its length. */
const QUESTION_BYTES = 2 * 1024;

export class WithoutRoom {
  /** Bytes that the question of each takes, in the order in which they came. */
  readonly #resting = new Map<string, number>();
  /** Tried again, and not yet ended: their questions may be about to take their room. */
  readonly #trying = new Map<string, number>();

  /** Executions that rest until there is room. */
  get size(): number {
    return this.#resting.size;
  }

  add(key: string, bytes = QUESTION_BYTES): void {
    this.#trying.delete(key);
    this.#resting.set(key, bytes);
  }

  /** False: it does not rest here. */
  remove(key: string): boolean {
    return this.#resting.delete(key);
  }

  /** The next one that fits, if one does. */
  fitting(freeBytes: number): string | undefined {
    const [next] = this.#resting;
    if (!next) return undefined;
    let promised = 0;
    for (const bytes of this.#trying.values()) promised += bytes;
    const [key, bytes] = next;
    return promised + bytes <= freeBytes ? key : undefined;
  }

  /** It is running again. */
  tried(key: string): void {
    this.#trying.set(key, this.#resting.get(key) ?? QUESTION_BYTES);
    this.#resting.delete(key);
  }

  /** Its attempt has ended, however it did. */
  ended(key: string): void {
    this.#trying.delete(key);
  }
}
