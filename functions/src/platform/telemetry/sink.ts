/** What a collector is sent, in our words: what an instance counts, and what a scheduled function has counted in the store. */
import type { Metrics, ProblemMetrics } from '../../ports/metrics.ts';
import type { ActiveRuns } from '../../ports/run-census.ts';

/** Runs of one tenant that have not ended, by status. */
export interface TenantActivity {
  readonly tenantId: string;
  readonly active: readonly ActiveRuns[];
}

export interface MetricSink extends Metrics, ProblemMetrics {
  /** Told with the next export and no later one: a count of long ago would pass for one of now. */
  active(activity: readonly TenantActivity[]): void;
  /** Sends everything as it stands. Totals, not differences: what one export lost the next one brings. @throws Error */
  send(): Promise<void>;
}
