/**
 * Share of each tenant in the requests that an instance handles at a time: one that sends more than its share is refused at once, before
 * its body is parsed, so that those of the others need not wait for an instance. Instances do not share it.
 */
import { CairnError } from '../core/errors.ts';
import type { Clock } from '../ports/clock.ts';

interface SharedPlaces {
  /** Requests of all tenants that an instance may be handed at a time. */
  readonly ofAll: number;
  /** Number of these that open streams hold, which have a bound of their own. */
  openStreams(): number;
}

/** Places that tenants share; the others are for tenants without a request in progress. */
const SHARED = 0.75;
/** The number of requests that a page of the console sends at once. */
export const MIN_SHARE = 6;
const RETRY_AFTER_S = 1;
/** A tenant that sent nothing for so long is no neighbour, ms: one that is alone has all places. */
export const NEIGHBOUR_MS = 60_000;

/** @param tenants those with requests under way, the one that asks included. Pure. */
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
  /** The last two tenants that sent a request: enough to know whether one is alone. */
  #last: SeenTenant | undefined;
  #other: SeenTenant | undefined;

  constructor(places: SharedPlaces, clock: Pick<Clock, 'now'>) {
    this.#places = places;
    this.#clock = clock;
  }

  /** @throws CairnError RATE_LIMITED, without calling `work`, if the tenant has its share under way */
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

/** Number of things that each tenant has under way at an instance, such as requests. A tenant without any takes no memory. */
export class TenantCounts {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** The number for all tenants together. */
  get all(): number {
    return this.#all;
  }

  /** Number of tenants that have any. */
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

  /** The tenant must have one. */
  remove(tenantId: string): void {
    this.#all -= 1;
    const left = this.of(tenantId) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
  }
}
