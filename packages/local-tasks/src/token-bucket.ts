/**
 * The rate limit of one queue: a bucket of `burst` tokens, refilled at `perSecond`. A share below 1 reduces both. Does not read the
 * clock.
 */

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

  /** Takes one token, or returns the time (epoch ms) of the next one at this share of the rate. */
  take(now: number, share = 1): { readonly taken: true } | { readonly taken: false; readonly atMs: number } {
    const perMs = (this.#perSecond * share) / 1000;
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(Math.max(1, this.#burst * share), this.#tokens + elapsed * perMs);
    this.#filledAt = Math.max(now, this.#filledAt);
    // Tolerates rounding errors; otherwise a timer for the token would fire repeatedly.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens = Math.max(0, this.#tokens - 1);
      return { taken: true };
    }
    return { taken: false, atMs: this.#filledAt + (1 - this.#tokens) / perMs };
  }
}
