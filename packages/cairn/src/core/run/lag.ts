/** Lag of a snapshot behind its journal (J4, J10). Shared by writer and checker. */
import type { RunState } from './state.ts';
import { wakeAt } from './wake.ts';

/**
 * True if the events between the two may not be committed without the snapshot: claims, releases, status changes, waits,
 * terminals, everything on an unleased run, and whatever moves `wakeAt` earlier.
 */
export function mustWriteSnapshot(before: RunState, after: RunState): boolean {
  if (after.lease === undefined || before.lease?.epoch !== after.lease.epoch) return true;
  if (before.status !== after.status || before.waits !== after.waits) return true;
  return (wakeAt(after) ?? Number.POSITIVE_INFINITY) < (wakeAt(before) ?? Number.POSITIVE_INFINITY);
}
