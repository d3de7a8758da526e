/** Limits of open streams per instance, so that other requests find room. */
import { CairnError } from '../../../core/errors.ts';
import { TenantCounts } from '../../tenant-shares.ts';

interface StreamBounds {
  readonly ofAll: number;
  /** Places that one tenant may have while any are left. It may have more while at least as many stay free. */
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
   * @returns gives the place back; further calls do nothing
   * @throws CairnError RATE_LIMITED if the tenant has all it may have, UNAVAILABLE if the instance has
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
