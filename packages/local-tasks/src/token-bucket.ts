/** The rate limit of one queue: a bucket of `burst` tokens refilled at `perSecond`. Does not read the clock. */

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

  /** Takes one token, or returns the time (epoch ms) of the next one. */
  take(now: number): { readonly taken: true } | { readonly taken: false; readonly atMs: number } {
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsed / 1000) * this.#perSecond);
    this.#filledAt = Math.max(now, this.#filledAt);
    // A token missing by rounding only counts as available; otherwise a timer for its time would fire repeatedly.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens = Math.max(0, this.#tokens - 1);
      return { taken: true };
    }
    return { taken: false, atMs: this.#filledAt + ((1 - this.#tokens) / this.#perSecond) * 1000 };
  }
}
