/** Number of active runs of a tenant, for metrics collectors. Requests within a time share one count. */
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import { SharedAnswers } from '../../../operations/shared-answers.ts';
import type { ActiveRuns } from '../../../ports/run-statistics.ts';
import type { ApiDeps } from '../../deps.ts';

/** One count serves all requests within this time; collectors ask every 15 s or less often. */
const COUNT_TTL_MS = 10_000;
const TENANTS_KEPT = 500;

export class ActiveRunCounts {
  readonly #deps: Pick<ApiDeps, 'clock' | 'random' | 'statistics'>;
  readonly #shared: SharedAnswers<readonly ActiveRuns[]>;

  constructor(deps: Pick<ApiDeps, 'clock' | 'random' | 'statistics'>) {
    this.#deps = deps;
    this.#shared = new SharedAnswers({ clock: deps.clock, ttlMs: COUNT_TTL_MS, most: TENANTS_KEPT });
  }

  /** @throws CairnError UNAVAILABLE if the runs cannot be counted: no answer is better than a zero */
  of(tenantId: string): Promise<readonly ActiveRuns[]> {
    const deps = this.#deps;
    return this.#shared.get(tenantId, () => sendUntilKnown(deps, () => deps.statistics.activeRuns(tenantId)));
  }
}
