/** Bound of the time for which a run makes no progress after its worker died. */
import {
  LATE_HEARTBEAT_MS,
  type LeaseTimes,
  WATCH_MARGIN_MS,
} from '../../../packages/cairn/src/core/recovery/lease-watch.ts';

/**
 * Longest time from the death of a worker, whose task is lost too, to the dispatch or recovery of its run, ms. A death right after a
 * heartbeat is the worst: either the tick that follows the missed one watches the lease, or the one after it finds the run due.
 *
 * @param tickMs longest time between two ticks
 */
export function longestSilence({ leaseMs, heartbeatMs }: LeaseTimes, tickMs: number): number {
  return Math.max(leaseMs + WATCH_MARGIN_MS, heartbeatMs + LATE_HEARTBEAT_MS + tickMs);
}
