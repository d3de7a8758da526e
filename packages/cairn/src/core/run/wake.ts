/** `wakeAt` (J10): the time by which the run is scanned at the latest, as a total function of the fold. */
import type { Wait } from './events.ts';
import {
  endsAfterChildren,
  hasCompletionDuties,
  hasUnpublishedEvents,
  isOver,
  isSuspended,
  type RunState,
  type VolatileMetadata,
} from './state.ts';
import type { RunStatus } from './status.ts';

/** Time until the scan checks a run that is ready but has no worker, ms: its task may have been lost. */
export const READY_GRACE_MS = 60_000;
/** A wait without a deadline is still scanned once a day. */
export const OPEN_WAIT_MS = 24 * 3_600_000;
/**
 * Time until the first check of a blocked run, ms. Each further interval equals the time that the run has been blocked, up to
 * {@link LONGEST_CHECK_MS}. A deployment updates functions one by one, so a missing plan often arrives within a minute.
 */
export const FIRST_BLOCKED_CHECK_MS = 30_000;
/** Longest interval between two checks of what waits for a deployment or for a place in the queue, ms. */
export const LONGEST_CHECK_MS = 10 * 60_000;

/**
 * Time by which this run is scanned at the latest, epoch ms; undefined for a settled one. A lease that heartbeats have extended
 * counts as extended. The lease holder publishes events; unpublished events of a run without a worker are scanned soon.
 */
export function wakeAt(state: RunState, metadata: VolatileMetadata = {}): number | undefined {
  const dueAt = dueForItself(state, metadata);
  if (state.lease || !hasUnpublishedEvents(state, metadata)) return dueAt;
  const publishAt = Math.max(state.updatedAt + READY_GRACE_MS, metadata.publishDueAt ?? 0);
  return Math.min(publishAt, dueAt ?? Number.POSITIVE_INFINITY);
}

/** The members of a run that determine whether it waits, and until when. */
export type RestingRun = Pick<
  RunState,
  | 'status'
  | 'lease'
  | 'waits'
  | 'parked'
  | 'dueAt'
  | 'deadlineAt'
  | 'updatedAt'
  | 'suspension'
  | 'cancellation'
  | 'error'
  | 'compensating'
>;

export interface ReadyFacts {
  readonly status: RunStatus | undefined;
  /** Undefined: no worker holds it. */
  readonly lease?: unknown;
  readonly dueAt?: number | undefined;
  readonly updatedAt: number | undefined;
}

const READY_STATUSES: ReadonlySet<RunStatus | undefined> = new Set(['pending', 'running', 'replaying']);

/** True if an operator suspended the run and no worker holds it: its own timers do not move it. */
export function isSuspendedWithoutWorker(
  state: Pick<RestingRun, 'status' | 'lease' | 'suspension' | 'cancellation'>,
): boolean {
  return isSuspended(state) && !isOver(state) && state.lease === undefined && state.status !== 'interrupted';
}

function dueForItself(state: RunState, metadata: VolatileMetadata): number | undefined {
  if (isSuspendedWithoutWorker(state)) return state.updatedAt + OPEN_WAIT_MS;
  switch (state.status) {
    case 'completed':
    case 'failed':
    case 'cancelled':
      return hasCompletionDuties(state) && !metadata.dutiesMet ? state.updatedAt + READY_GRACE_MS : undefined;
    case 'awaiting_approval':
    case 'waiting_external':
      return waitingUntil(state);
    case 'pending':
    case 'running':
    case 'replaying':
    case 'interrupted':
      if (state.lease) return Math.max(state.lease.expiresAt, metadata.leaseExtendedTo ?? 0);
      return Math.min(
        state.dueAt ?? state.updatedAt + READY_GRACE_MS,
        // The deadline decides nothing about a run that is compensating.
        (state.compensating ? undefined : state.deadlineAt) ?? Number.POSITIVE_INFINITY,
      );
  }
}

function waitingUntil(state: RunState): number {
  if (isBlocked(state)) return state.dueAt ?? state.updatedAt + FIRST_BLOCKED_CHECK_MS;
  const due = nextDue(state) ?? state.updatedAt + OPEN_WAIT_MS;
  return hasUnannouncedWaits(state) ? Math.min(due, state.updatedAt + READY_GRACE_MS) : due;
}

/**
 * True if the run has a wait that was not announced because its worker died: an event without a mailbox entry, a child
 * that was not started.
 */
export function hasUnannouncedWaits({ waits }: Pick<RestingRun, 'waits'>): boolean {
  return waits.some(isUnannounced);
}

function isUnannounced({ kind, announced }: Wait): boolean {
  return !announced && (kind === 'event' || kind === 'child');
}

/** True for a wait that a dispatch must handle: it is not announced, or its time has come. */
export function needsDispatch(wait: Wait, now: number): boolean {
  return isUnannounced(wait) || (wait.dueAt !== undefined && wait.dueAt <= now);
}

/** True for a suspended run that none of its own waits can resume. It usually waits for a deployment. */
export function isBlocked({ parked, waits }: Pick<RestingRun, 'parked' | 'waits'>): boolean {
  return parked !== undefined || waits.length === 0;
}

/** Start of the block of a run: the event that blocks it records its end, which later events do not change. Epoch ms. */
export function blockedSince({ dueAt, updatedAt }: Pick<RestingRun, 'dueAt' | 'updatedAt'>): number {
  return dueAt === undefined ? updatedAt : dueAt - FIRST_BLOCKED_CHECK_MS;
}

/** Time until the next scan of a blocked run, ms. */
export function nextBlockedCheckMs(state: Pick<RestingRun, 'dueAt' | 'updatedAt'>, now: number): number {
  return Math.min(LONGEST_CHECK_MS, Math.max(FIRST_BLOCKED_CHECK_MS, now - blockedSince(state)));
}

/** Time since which a worker could have claimed the run, epoch ms; undefined: one holds it, or it waits for something else. */
export function readySince({ status, lease, dueAt, updatedAt }: ReadyFacts): number | undefined {
  return lease === undefined && READY_STATUSES.has(status) ? (dueAt ?? updatedAt) : undefined;
}

/**
 * Time until the scan checks the run again that it enqueues now, ms. From the second check on, the interval equals the time that the
 * run has been ready, up to {@link LONGEST_CHECK_MS}: its tasks usually wait in a full queue, and each further one of a suspect would
 * take a process of its own.
 */
export function nextReadyCheckMs(since: number | undefined, now: number): number {
  const readyMs = since === undefined ? 0 : now - since;
  return readyMs < 2 * READY_GRACE_MS ? READY_GRACE_MS : Math.min(LONGEST_CHECK_MS, readyMs);
}

/** True for a waiting run with work due at this time: a deadline, a timer, a retry, or an announcement. */
export function isDue(state: RestingRun, now: number): boolean {
  return (
    !isBlocked(state) && (hasUnannouncedWaits(state) || (nextDue(state) ?? Number.POSITIVE_INFINITY) <= now)
  );
}

/** Next time a waiting run has work without external input: a deadline, a timer, or a retry. Undefined: never. */
export function nextDue(state: RestingRun): number | undefined {
  if (endsAfterChildren(state)) return undefined;
  const times = state.waits.flatMap((wait) => (wait.dueAt === undefined ? [] : [wait.dueAt]));
  if (state.dueAt !== undefined) times.push(state.dueAt);
  if (state.deadlineAt !== undefined) times.push(state.deadlineAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Bound of the lag of a snapshot behind its journal (J4, J10), for its writer and the checker. True if the events between the two
 * may not be committed without the snapshot. These are claims, releases, status changes, waits, terminals, everything on an
 * unleased run, and whatever moves `wakeAt` earlier.
 */
export function mustWriteSnapshot(before: RunState, after: RunState): boolean {
  if (after.lease === undefined || before.lease?.epoch !== after.lease.epoch) return true;
  if (before.status !== after.status || before.waits !== after.waits) return true;
  return (wakeAt(after) ?? Number.POSITIVE_INFINITY) < (wakeAt(before) ?? Number.POSITIVE_INFINITY);
}
