/**
 * Share of each tenant in the requests that an instance handles at a time: one that sends more than its share is refused at once, before
 * its body is parsed, so that those of the others need not wait for an instance. Instances do not share it.
 */
import { CairnError } from '../core/errors.ts';

export interface SharedPlaces {
  /** Requests of all tenants that an instance may be handed at a time. */
  readonly ofAll: number;
  /** Number of these that open streams hold, which have a bound of their own. */
  openStreams(): number;
}

/** As deployed: what the platform hands to an instance with a whole processor unless it is told otherwise. */
export const API_CONCURRENCY = 80;
/** Places that tenants share; the others are for tenants without a request in progress. */
const SHARED = 0.75;
/** As many requests as a page of the console sends at once. */
export const LEAST_SHARE = 6;
const RETRY_AFTER_S = 1;

/** @param tenants those with requests under way, the one that asks included. Pure. */
export function shareOf(places: number, tenants: number): number {
  return Math.max(LEAST_SHARE, Math.floor((places * SHARED) / tenants));
}

export class TenantShares {
  readonly #places: SharedPlaces;
  readonly #underWay = new Map<string, number>();

  constructor(places: SharedPlaces) {
    this.#places = places;
  }

  /** @throws CairnError RATE_LIMITED, without calling `work`, if the tenant has its share under way */
  async pass<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const own = this.#underWay.get(tenantId) ?? 0;
    const tenants = this.#underWay.size + (own === 0 ? 1 : 0);
    const { ofAll } = this.#places;
    if (own >= shareOf(ofAll - this.#places.openStreams(), tenants)) {
      throw new CairnError('RATE_LIMITED', `${own} requests of this tenant are under way, its share`, {
        details: { retryAfterSeconds: RETRY_AFTER_S },
      });
    }
    this.#underWay.set(tenantId, own + 1);
    try {
      return await work();
    } finally {
      const left = (this.#underWay.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(tenantId);
      else this.#underWay.set(tenantId, left);
    }
  }
}
