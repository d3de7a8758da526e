/**
 * A rate limit: excess requests wait, first come first served. Stores a single number, so that a simulation can have one for each
 * document. Pure.
 */
export class RateLimit {
  readonly #everyMs: number;
  readonly #burst: number;
  /** When the allowance is full again. */
  #fullAt = Number.NEGATIVE_INFINITY;

  /** @param burst amount allowed at once after a rest */
  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#everyMs = 1000 / perSecond;
    this.#burst = Math.max(1, burst);
  }

  /** Takes one. Returns the wait time, ms. */
  take(now: number): number {
    const fullAt = Math.max(this.#fullAt, now) + this.#everyMs;
    this.#fullAt = fullAt;
    return Math.max(0, fullAt - now - this.#burst * this.#everyMs);
  }
}
