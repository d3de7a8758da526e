/**
 * A rate that a service bears: what comes faster waits its turn, first come first served. Keeps one number, so that a simulation may have one
 * for each document. Pure.
 */
export class RateLimit {
  readonly #everyMs: number;
  readonly #burst: number;
  /** When the allowance is full again. */
  #fullAt = Number.NEGATIVE_INFINITY;

  /** @param burst amount that goes at once after a rest */
  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#everyMs = 1000 / perSecond;
    this.#burst = Math.max(1, burst);
  }

  /** Takes one. Returns how long it waits, in ms. */
  take(now: number): number {
    const fullAt = Math.max(this.#fullAt, now) + this.#everyMs;
    this.#fullAt = fullAt;
    return Math.max(0, fullAt - now - this.#burst * this.#everyMs);
  }
}
