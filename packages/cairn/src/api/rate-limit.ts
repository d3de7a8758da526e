/**
 * Rate limit per caller and instance: a token bucket for each caller. It protects an instance and its other callers
 * from a runaway caller. It is not a quota: instances do not share it.
 */
import { BoundedMap } from '../core/bounded-map.ts';
import { CairnError } from '../core/errors.ts';

export interface RateLimit {
  readonly perSecond: number;
  /** Burst after a pause. */
  readonly burst: number;
}

/** A full bucket, in seconds of the sustained rate: enough for a page that loads or a script that starts. */
export const BURST_SECONDS = 5;
/** Callers in memory. An evicted caller starts again with a full bucket. */
export const CALLERS_KEPT = 10_000;

interface RateBucket {
  readonly tokens: number;
  /** Epoch ms at which the bucket had these tokens. */
  readonly at: number;
}

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: { now(): number };
  readonly #buckets = new BoundedMap<string, RateBucket>(CALLERS_KEPT);

  constructor(limit: RateLimit, clock: { now(): number }) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** @throws CairnError RATE_LIMITED, with the seconds until one more request passes */
  pass(principal: string): void {
    const { perSecond, burst } = this.#limit;
    const now = this.#clock.now();
    const { tokens, at } = this.#buckets.get(principal) ?? { tokens: burst, at: now };
    // A clock that was set back adds and removes nothing.
    const filled = Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1_000);
    const passes = filled >= 1;
    this.#buckets.set(principal, { tokens: passes ? filled - 1 : filled, at: now });
    if (passes) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - filled) / perSecond));
    throw new CairnError('RATE_LIMITED', `more than ${perSecond} requests a second`, {
      details: { retryAfterSeconds },
    });
  }
}
