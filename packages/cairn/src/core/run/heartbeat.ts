/**
 * Heartbeats of the outside for the wait of a step: each one puts off the time at which the wait fails, up to the wait's own
 * timeout. A beat is recorded only if the time that was recorded before would cut its `withinMs` short. Pure.
 */
import type { Wait, WaitHeartbeat } from './events.ts';

/** Shortest `within` of a wait, ms: each recorded beat is a commit. */
export const MIN_WAIT_HEARTBEAT_MS = 10_000;
/**
 * A recorded beat holds for `withinMs` and this share of it, so that beats within that share after it need no record: each still
 * holds for its full `withinMs`.
 */
const GRACE_SHARE = 0.25;

/** When the wait fails as it is opened: the first beat is due `withinMs` later. Epoch ms. */
export function firstDueAt(openedAt: number, { withinMs, timeoutAt }: WaitHeartbeat): number {
  return Math.min(openedAt + withinMs, timeoutAt ?? Number.POSITIVE_INFINITY);
}

/** When the wait fails after a beat at `now`; undefined: the beat needs no record. Epoch ms. */
export function dueAfterBeat({ heartbeat, dueAt = 0 }: Wait, now: number): number | undefined {
  if (!heartbeat) return undefined;
  const { withinMs, timeoutAt = Number.POSITIVE_INFINITY } = heartbeat;
  if (dueAt >= Math.min(now + withinMs, timeoutAt)) return undefined;
  return Math.min(now + withinMs + Math.floor(withinMs * GRACE_SHARE), timeoutAt);
}

/** True if the wait, whose time has come, failed for want of a beat and not by its own timeout. */
export function missedHeartbeat({ heartbeat, dueAt }: Wait): boolean {
  return heartbeat !== undefined && dueAt !== heartbeat.timeoutAt;
}
