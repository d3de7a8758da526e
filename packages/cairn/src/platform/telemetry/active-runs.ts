/** Counts the live runs of all tenants, for the one scheduled function that reports them to a collector. */
import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { RunStatistics } from '../../ports/run-statistics.ts';
import type { TenantActivity } from './sink.ts';

/** Tenants counted each minute: seven reads each, a few thousand a minute at most. */
export const MAX_TENANTS_COUNTED = 500;
/** Tenants counted concurrently: six queries each. */
const CONCURRENT_TENANTS = 4;

interface CountedActivity {
  readonly activity: readonly TenantActivity[];
  /** True if there may be more tenants than were counted. */
  readonly isCut: boolean;
}

export async function countActive(statistics: RunStatistics): Promise<CountedActivity> {
  const tenants = await statistics.tenants(MAX_TENANTS_COUNTED);
  const activity = await mapConcurrently(tenants, CONCURRENT_TENANTS, async (tenantId) => ({
    tenantId,
    active: await statistics.activeRuns(tenantId),
  }));
  return { activity, isCut: tenants.length === MAX_TENANTS_COUNTED };
}
