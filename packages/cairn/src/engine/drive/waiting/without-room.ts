/**
 * Executions whose question did not fit among the open waits. One of them is retried each time a wait ends, because only then
 * can room become free. This limits their appends to the number of answers.
 *
 * Must not: start an execution.
 */

/** Approximate upper bound of a question about an effect; an earlier dispatch did not record its length. */
const QUESTION_BYTES = 2 * 1024;

export class WithoutRoom {
  /** Sizes of the questions, in order of arrival. */
  readonly #resting = new Map<string, number>();
  /** Sizes of the questions of executions that run again: each may still take its room. */
  readonly #trying = new Map<string, number>();

  /** Executions that rest until there is room. */
  get size(): number {
    return this.#resting.size;
  }

  add(key: string, bytes = QUESTION_BYTES): void {
    this.#trying.delete(key);
    this.#resting.set(key, bytes);
  }

  /** @returns false if it did not rest here */
  remove(key: string): boolean {
    return this.#resting.delete(key);
  }

  /** The next execution whose question fits; undefined if none does. */
  fitting(freeBytes: number): string | undefined {
    const [next] = this.#resting;
    if (!next) return undefined;
    let promised = 0;
    for (const bytes of this.#trying.values()) promised += bytes;
    const [key, bytes] = next;
    return promised + bytes <= freeBytes ? key : undefined;
  }

  /** The execution is running again. */
  tried(key: string): void {
    this.#trying.set(key, this.#resting.get(key) ?? QUESTION_BYTES);
    this.#resting.delete(key);
  }

  /** Call when its attempt has ended, with any outcome. */
  ended(key: string): void {
    this.#trying.delete(key);
  }
}
