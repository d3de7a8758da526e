/** Number of active runs of a tenant, for metrics collectors. Requests within a time share one count. */
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import type { ActiveRuns } from '../../../ports/run-statistics.ts';
import type { ApiDeps } from '../../deps.ts';

/** One count serves all who ask within this time; collectors ask every 15 s or less often. */
const COUNT_TTL_MS = 10_000;
/** Tenants whose counts are kept; the one counted longest ago makes room. */
const TENANTS_KEPT = 500;

interface Counted {
  readonly active: Promise<readonly ActiveRuns[]>;
  /** Epoch ms. */
  readonly until: number;
}

export class ActiveRunCounts {
  readonly #deps: Pick<ApiDeps, 'start' | 'statistics'>;
  readonly #counted = new Map<string, Counted>();

  constructor(deps: Pick<ApiDeps, 'start' | 'statistics'>) {
    this.#deps = deps;
  }

  /** @throws CairnError UNAVAILABLE if the runs cannot be counted: no answer is better than a zero */
  of(tenantId: string): Promise<readonly ActiveRuns[]> {
    const { start, statistics } = this.#deps;
    const now = start.clock.now();
    const known = this.#counted.get(tenantId);
    if (known && now < known.until) return known.active;
    const active = sendUntilKnown(start, () => statistics.activeRuns(tenantId));
    this.#counted.delete(tenantId);
    this.#counted.set(tenantId, { active, until: now + COUNT_TTL_MS });
    const [oldest] = this.#counted.keys();
    if (this.#counted.size > TENANTS_KEPT && oldest !== undefined) this.#counted.delete(oldest);
    // A count that failed is made again by whoever asks next.
    active.catch(() => {
      if (this.#counted.get(tenantId)?.active === active) this.#counted.delete(tenantId);
    });
    return active;
  }
}
