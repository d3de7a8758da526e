/**
 * Enqueues a dispatch for the end of the lease of runs that missed a heartbeat, because by `wakeAt` alone a tick would find
 * them up to a minute later. Reads and writes no run. A dispatch that finds a live worker only reads the run.
 *
 * Must not: fail a tick. A run that it misses is recovered when it is due.
 */
import { taskName } from '../core/encoding/task-name.ts';
import { mapConcurrently } from '../core/map-concurrently.ts';
import { WATCH_MOST, watchAt, watchedHeartbeats } from '../core/recovery/lease-watch.ts';
import { messageOf } from '../core/thrown.ts';
import type { TraceContext } from '../core/trace.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { poolAndTenant } from '../engine/enqueue-soon.ts';
import type { SilentRun } from '../ports/run-store.ts';

/** Concurrent enqueues. */
const WATCH_CONCURRENCY = 32;
/** No journal has this head, so the names of watching tasks differ from those of all other tasks. */
const NO_HEAD = 0;

/** Context of a tick. */
interface Watching {
  readonly paused: { has(type: string): boolean };
  readonly trace: TraceContext | undefined;
}

/** Never rejects. Returns the number of dispatches that it requested. */
export async function watchLeases(deps: EngineDeps, { paused, trace }: Watching): Promise<number> {
  const { store, settings, clock, log } = deps;
  let watched = 0;
  try {
    const found = await store.silentRuns(watchedHeartbeats(clock.now(), settings), WATCH_MOST);
    if (found.length === WATCH_MOST) log.warn('leases_watched_in_part', { watched: WATCH_MOST });
    const silent = found.filter(
      ({ isLeased, type }) => isLeased && !(type !== undefined && paused.has(type)),
    );
    await mapConcurrently(silent, WATCH_CONCURRENCY, async (run) => {
      await watch(deps, run, trace);
      watched += 1;
    });
  } catch (error) {
    log.warn('leases_not_watched', { watched, error: messageOf(error) });
  }
  return watched;
}

/** The task is named by the heartbeat, so that two ticks that see the same silence enqueue one dispatch. */
async function watch(deps: EngineDeps, run: SilentRun, trace: TraceContext | undefined): Promise<void> {
  const { runId, lastHeartbeatAt, type, tenantId } = run;
  const at = watchAt(lastHeartbeatAt, deps.settings);
  const isPlaceable = type !== undefined && tenantId !== undefined;
  await deps.queue.enqueue({
    runId,
    reason: 'lease_expiry',
    watches: true,
    at,
    name: taskName(runId, NO_HEAD, at),
    ...(isPlaceable && poolAndTenant(deps, { type, tenantId })),
    trace,
  });
}
