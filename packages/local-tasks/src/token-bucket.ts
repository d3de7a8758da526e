/** The rate limit of one queue: a bucket of `burst` tokens refilled at `perSecond`. Takes the time, never reads it. */

export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = now;
  }

  /** Takes one token, or says when (ms since the epoch) there will be one. */
  take(now: number): { readonly taken: true } | { readonly taken: false; readonly atMs: number } {
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsed / 1000) * this.#perSecond);
    this.#filledAt = Math.max(now, this.#filledAt);
    // A token short by rounding alone counts as there, or a timer set for its moment would spin.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens = Math.max(0, this.#tokens - 1);
      return { taken: true };
    }
    return { taken: false, atMs: this.#filledAt + ((1 - this.#tokens) / this.#perSecond) * 1000 };
  }
}
