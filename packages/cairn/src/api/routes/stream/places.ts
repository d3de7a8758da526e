/** Limits of open streams per instance, so that other requests can be served. */
import { CairnError } from '../../../core/errors.ts';
import { TenantCounts } from '../../tenant-shares.ts';

interface StreamBounds {
  readonly ofAll: number;
  /** Streams that a tenant may open while any are left. It may open more while at least as many stay free. */
  readonly ofOneTenant: number;
}

export class StreamPlaces {
  readonly #bounds: StreamBounds;
  readonly #taken = new TenantCounts();

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  get taken(): number {
    return this.#taken.all;
  }

  /**
   * @returns a function that frees the place; further calls have no effect
   * @throws CairnError RATE_LIMITED at the tenant's limit, UNAVAILABLE at the limit of the instance
   */
  take(tenantId: string): () => void {
    const { ofAll, ofOneTenant } = this.#bounds;
    const own = this.#taken.of(tenantId);
    if (own >= Math.max(ofOneTenant, ofAll - this.#taken.all)) {
      throw new CairnError(
        'RATE_LIMITED',
        `the tenant has ${own} streams and waits open at this instance, the most allowed`,
        { help: 'Close one, read without `wait`, or ask again after the time in `Retry-After`.' },
      );
    }
    if (this.#taken.all >= ofAll) throw new CairnError('UNAVAILABLE', 'too many streams are open');
    this.#taken.add(tenantId);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken.remove(tenantId);
    };
  }
}
