/**
 * `GET /v1/metrics`: how the caller's runs fare, as Prometheus reads it. Of the caller's tenant only, as everything: the
 * counts of another would tell that it exists. For admins, since it speaks of an instance, which serves all tenants, and
 * each look that is not served from memory is billed.
 */
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import type { ActiveRuns } from '../../../ports/run-census.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { readQuery } from '../../query.ts';
import { families } from './families.ts';
import { PROMETHEUS_TEXT, prometheusText } from './prometheus.ts';

/** One count serves all who ask within this time; collectors ask every 15 s or less often. */
const COUNT_TTL_MS = 10_000;
/** Tenants whose counts are kept; the one counted longest ago makes room. */
const TENANTS_KEPT = 500;

interface Counted {
  readonly active: Promise<readonly ActiveRuns[]>;
  /** Epoch ms. */
  readonly until: number;
}

export class MetricsRoute {
  readonly #deps: ApiDeps;
  readonly #counted = new Map<string, Counted>();

  constructor(deps: ApiDeps) {
    this.#deps = deps;
  }

  /** @throws CairnError FORBIDDEN, INVALID_INPUT; UNAVAILABLE if the runs cannot be counted: no answer is better than a zero */
  async answer(caller: Caller, url: string): Promise<Response> {
    assertRole(caller, 'admin');
    readQuery(url, []);
    const { tenantId } = caller;
    const active = await this.#active(tenantId);
    const text = prometheusText(families({ tenantId, active, counts: this.#deps.counts.countsOf(tenantId) }));
    return new Response(text, { headers: { 'content-type': PROMETHEUS_TEXT } });
  }

  #active(tenantId: string): Promise<readonly ActiveRuns[]> {
    const { start, census } = this.#deps;
    const now = start.clock.now();
    const known = this.#counted.get(tenantId);
    if (known && now < known.until) return known.active;
    const active = sendUntilKnown(start, () => census.activeRuns(tenantId));
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
