/**
 * Heartbeats of the sender of an awaited event. Each one extends the time at which the wait fails, up to the wait's own timeout. A
 * heartbeat is recorded only if the recorded time is less than `withinMs` away. Pure.
 */
import type { EventWait, Wait, WaitHeartbeat } from './events.ts';

export type WaitWithHeartbeat = EventWait & { readonly heartbeat: WaitHeartbeat; readonly dueAt: number };

/** Shortest `within` of a wait, ms: each recorded heartbeat is a commit. */
export const MIN_WAIT_HEARTBEAT_MS = 10_000;
/**
 * A recorded heartbeat extends the wait by `withinMs` plus this share of it, so that heartbeats within that share need no record:
 * each still holds for its full `withinMs`.
 */
const GRACE_SHARE = 0.25;

/** Time at which the wait fails without any heartbeat, epoch ms. */
export function firstDueAt(openedAt: number, { withinMs, timeoutAt }: WaitHeartbeat): number {
  return Math.min(openedAt + withinMs, timeoutAt ?? Number.POSITIVE_INFINITY);
}

/** Time at which the wait fails after a heartbeat at `now`, epoch ms; undefined: the heartbeat needs no record. */
export function dueAfterBeat({ heartbeat, dueAt }: WaitWithHeartbeat, now: number): number | undefined {
  const { withinMs, timeoutAt = Number.POSITIVE_INFINITY } = heartbeat;
  if (dueAt >= Math.min(now + withinMs, timeoutAt)) return undefined;
  return Math.min(now + withinMs + Math.floor(withinMs * GRACE_SHARE), timeoutAt);
}

/** True if a wait whose time has come failed because of a missing heartbeat, not by its own timeout. */
export function missedHeartbeat(wait: Wait): wait is WaitWithHeartbeat {
  return wait.heartbeat !== undefined && wait.dueAt !== wait.heartbeat.timeoutAt;
}
