/**
 * Decides which leases one tick of the scan watches: those of runs that missed a heartbeat and whose lease ends before the next
 * tick could find them. Pure.
 *
 * A healthy run is never among them: its last heartbeat is younger than {@link LeaseTimes.heartbeatMs}. So watching costs nothing
 * for runs whose workers live, however many there are.
 */

/** Delay after which a heartbeat counts as missed, ms: allows for its commit and a late timer. */
export const LATE_HEARTBEAT_MS = 1_000;
/**
 * Delay of a watching dispatch after the end of the lease, ms: the clocks of queue and store differ, and an early dispatch
 * finds the run still held.
 */
export const WATCH_MARGIN_MS = 1_000;
/**
 * Maximum of leases that one tick watches, earliest end first. The others are recovered when they are due, up to a minute later.
 * So many workers miss heartbeats at once only if the store does not respond.
 */
export const WATCH_MOST = 5_000;

/** A shorter silence is not reported, ms: a body may block its worker for some seconds. */
export const LEAST_SILENCE_MS = 10_000;

export interface LeaseTimes {
  /** Time from the last heartbeat to the end of the lease. */
  readonly leaseMs: number;
  /** Longest time between two heartbeats. */
  readonly heartbeatMs: number;
}

/** Times of last heartbeats, epoch ms. */
export interface HeartbeatWindow {
  /** Exclusive. The lease of an older heartbeat has ended, and the run is due. */
  readonly after: number;
  /** Inclusive. The worker of a younger heartbeat is not late. */
  readonly until: number;
}

/** Last heartbeats of the runs to watch. Empty (`until` before `after`) where a lease is shorter than a heartbeat. */
export function watchedHeartbeats(now: number, { leaseMs, heartbeatMs }: LeaseTimes): HeartbeatWindow {
  return { after: now - leaseMs, until: now - heartbeatMs - LATE_HEARTBEAT_MS };
}

/** True if a worker with a lease is silent for so long that it may have died. Times by the clock of the store, epoch ms. */
export function isSilent(
  now: number,
  lastHeartbeatAt: number,
  { heartbeatMs }: Pick<LeaseTimes, 'heartbeatMs'>,
): boolean {
  return now - lastHeartbeatAt > Math.max(heartbeatMs + LATE_HEARTBEAT_MS, LEAST_SILENCE_MS);
}

/** Time of the dispatch that takes the run over if its worker stays silent, epoch ms. */
export function watchAt(lastHeartbeatAt: number, { leaseMs }: Pick<LeaseTimes, 'leaseMs'>): number {
  return lastHeartbeatAt + leaseMs + WATCH_MARGIN_MS;
}
