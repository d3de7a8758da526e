/**
 * Share of each tenant in the concurrent requests of an instance. Requests above the share are refused at once, before their bodies
 * are parsed, so that requests of other tenants need not wait for an instance. Instances do not share it.
 */
import { CairnError } from '../core/errors.ts';
import type { Clock } from '../ports/clock.ts';

interface SharedPlaces {
  /** Concurrent requests of all tenants that an instance may get. */
  readonly ofAll: number;
  /** Number of these that are open streams, which have their own limit. */
  openStreams(): number;
}

/** Fraction of the places that tenants share. The rest is for tenants without a request in progress. */
const SHARED = 0.75;
/** The number of requests that a page of the console sends at once. */
export const MIN_SHARE = 6;
const RETRY_AFTER_S = 1;
/** A tenant that sent nothing for this time, ms, no longer counts: a tenant that is alone has all places. */
export const NEIGHBOUR_MS = 60_000;

/** @param tenants number of tenants with requests in progress, including the one that asks. Pure. */
export function shareOf(places: number, tenants: number): number {
  return Math.max(MIN_SHARE, Math.floor((places * SHARED) / tenants));
}

interface SeenTenant {
  readonly tenantId: string;
  /** Epoch ms. */
  readonly at: number;
}

export class TenantShares {
  readonly #places: SharedPlaces;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #underWay = new TenantCounts();
  /** The last two tenants that sent a request, which show whether a tenant is alone. */
  #last: SeenTenant | undefined;
  #other: SeenTenant | undefined;

  constructor(places: SharedPlaces, clock: Pick<Clock, 'now'>) {
    this.#places = places;
    this.#clock = clock;
  }

  /** @throws CairnError RATE_LIMITED, without calling `work`, if the tenant has used its share */
  async pass<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const own = this.#underWay.of(tenantId);
    const tenants = this.#underWay.tenants + (own === 0 ? 1 : 0);
    const places = this.#places.ofAll - this.#places.openStreams();
    if (own >= (this.#isAlone(tenantId) ? Math.max(MIN_SHARE, places) : shareOf(places, tenants))) {
      throw new CairnError('RATE_LIMITED', `${own} requests of this tenant are under way, its share`, {
        details: { retryAfterSeconds: RETRY_AFTER_S },
      });
    }
    this.#underWay.add(tenantId);
    try {
      return await work();
    } finally {
      this.#underWay.remove(tenantId);
    }
  }

  #isAlone(tenantId: string): boolean {
    const at = this.#clock.now();
    if (this.#last?.tenantId !== tenantId) this.#other = this.#last;
    this.#last = { tenantId, at };
    return this.#other === undefined || at - this.#other.at >= NEIGHBOUR_MS;
  }
}

/** Number of items in progress per tenant at an instance, such as requests. A tenant without any takes no memory. */
export class TenantCounts {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** Sum over all tenants. */
  get all(): number {
    return this.#all;
  }

  /** Number of tenants with items in progress. */
  get tenants(): number {
    return this.#counts.size;
  }

  of(tenantId: string): number {
    return this.#counts.get(tenantId) ?? 0;
  }

  add(tenantId: string): void {
    this.#all += 1;
    this.#counts.set(tenantId, this.of(tenantId) + 1);
  }

  /** The tenant must have an item in progress. */
  remove(tenantId: string): void {
    this.#all -= 1;
    const left = this.of(tenantId) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
  }
}
