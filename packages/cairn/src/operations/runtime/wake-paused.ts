/**
 * Enqueues paused runs after the pause ends. Best effort: the scan finds the others within five minutes by their `wakeAt`.
 *
 * Must not: check whether a run was really paused, because a dispatch with nothing to do costs one read.
 */
import { declaredType } from '../../core/flow/parts.ts';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import { DEFER_MS, stoppedBy } from '../../engine/admission.ts';
import { poolAndTenant } from '../../engine/enqueue-soon.ts';
import type { DueEntry } from '../../ports/run-statistics.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import type { RuntimeDeps } from './change-config.ts';

const PAGE = 250;
/** Runs enqueued by one call: fits well into the time that a caller waits for its response. */
export const MAX_WOKEN = 5_000;
/**
 * Runs read by one call, including runs of types that are still paused. Reading 40 pages one by one also fits into that time. The
 * scan finds the others.
 */
export const MAX_READ = 10_000;
/** Tasks created at once. */
const CONCURRENT_TASKS = 25;

type WakeDeps = Pick<RuntimeDeps, 'statistics' | 'queue' | 'clock' | 'log' | 'poolOf'>;

interface WakeRequest {
  /** Tenant whose runs are counted in the response. */
  readonly tenantId: string;
  /** Only runs of this workflow. */
  readonly type?: string;
}

/**
 * Enqueues runs of every tenant, and returns only the number of the caller's own, because a caller must not learn about other tenants.
 * Never throws, because the requested change is already made.
 */
export async function wakePaused(
  deps: WakeDeps,
  config: RuntimeConfig,
  { tenantId, type }: WakeRequest,
): Promise<number> {
  // While the kill switch or the pause after a restore holds all runs, a dispatch would only defer them again.
  if (stoppedBy(config)) return 0;
  const { paused } = config;
  // A paused run is due within this time, and so are a few others.
  const until = deps.clock.now() + DEFER_MS;
  let woken = 0;
  let own = 0;
  let after: DueEntry | undefined;
  try {
    for (let read = 0; woken < MAX_WOKEN && read < MAX_READ; ) {
      const page = await deps.statistics.due({ until, limit: PAGE, type, after });
      const free = page.filter((entry) => !paused.has(declaredType(entry.type)));
      await mapConcurrently(free, CONCURRENT_TASKS, async (entry) => {
        // The list does not show suspects. The dispatch of one hands it to their queue.
        await deps.queue.enqueue({
          runId: entry.runId,
          reason: 'continue',
          ...poolAndTenant(deps, entry),
        });
        woken += 1;
        own += entry.tenantId === tenantId ? 1 : 0;
      });
      read += page.length;
      after = page.at(-1);
      if (page.length < PAGE) break;
    }
  } catch (error) {
    deps.log.warn('paused_runs_left_to_scan', { woken, error });
  }
  return own;
}
