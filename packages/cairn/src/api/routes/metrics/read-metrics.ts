/**
 * `GET /v1/metrics`: metrics of the caller's tenant in Prometheus' format. Counts of other tenants would reveal that they exist. Requires
 * an admin, because the counters are those of an instance, which serves all tenants.
 */
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import { SharedAnswers } from '../../../operations/shared-answers.ts';
import type { ActiveRuns } from '../../../ports/run-statistics.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ReadHandler } from '../../route.ts';
import { families } from './families.ts';
import { PROMETHEUS_TEXT, prometheusText } from './prometheus.ts';

export const readMetrics: ReadHandler<'GET /v1/metrics'> = async ({
  deps,
  instance,
  caller: { tenantId },
}) => {
  const active = await instance.activeRuns.of(tenantId);
  const text = prometheusText(families({ tenantId, active, counts: deps.counts.countsOf(tenantId) }));
  return new Response(text, { headers: { 'content-type': PROMETHEUS_TEXT } });
};

/** One count serves all requests within this time. Collectors ask every 15 s or less often. */
const COUNT_TTL_MS = 10_000;
const TENANTS_KEPT = 500;

/** Number of active runs of a tenant. Requests within {@link COUNT_TTL_MS} share one count. */
export class ActiveRunCounts {
  readonly #deps: Pick<ApiDeps, 'clock' | 'random' | 'statistics'>;
  readonly #shared: SharedAnswers<readonly ActiveRuns[]>;

  constructor(deps: Pick<ApiDeps, 'clock' | 'random' | 'statistics'>) {
    this.#deps = deps;
    this.#shared = new SharedAnswers({ clock: deps.clock, ttlMs: COUNT_TTL_MS, most: TENANTS_KEPT });
  }

  /** @throws CairnError UNAVAILABLE if the runs cannot be counted: an error is better than a wrong zero */
  of(tenantId: string): Promise<readonly ActiveRuns[]> {
    const deps = this.#deps;
    return this.#shared.get(tenantId, () => sendUntilKnown(deps, () => deps.statistics.activeRuns(tenantId)));
  }
}
