/** Decision of a dispatch, or of the scan, about the run it has just read. Pure; the caller carries it out. */

import type { Takeover, TaskRef } from '../run/data/takeover.ts';
import { isOver, type OpenEffect, type RunState, type VolatileMetadata } from '../run/state.ts';
import { isBlocked, isDue, isSuspendedWithoutWorker, needsDispatch, nextDue } from '../run/wake.ts';
import type { DeployedPlan } from './deployed-plan.ts';
import { stepsInDoubt } from './ending-facts.ts';
import { recoveryDecision } from './recovery.ts';

/** A delivery of the queue, as its handler sees it. */
export interface TaskDelivery extends TaskRef {
  /** True if the function answered the previous delivery, so that its dispatch did not die before. */
  readonly answered?: boolean;
}

export interface Observation {
  readonly state: RunState;
  readonly metadata: VolatileMetadata;
  /**
   * Time of the read by the store's clock, which also sets `lastHeartbeatAt`, so that one clock decides about staleness. Epoch
   * ms.
   */
  readonly readAt: number;
  readonly leaseMs: number;
  /** Delivery of the dispatch that requests the claim, if the queue named it. */
  readonly delivery?: TaskDelivery | undefined;
  readonly deployed: DeployedPlan;
  /** True if a person resumes the run, or it got an answer: it does not wait for its back-off. */
  readonly skipsBackoff?: boolean | undefined;
}

export type ClaimDecision =
  /** The run has ended. */
  | { readonly kind: 'over' }
  /** A worker holds the run; `freeAt` (store time, epoch ms) is when that lease expires unless it is extended. */
  | { readonly kind: 'leased'; readonly freeAt: number }
  /** The lease has expired, or the task was redelivered: the run must be recovered before it can be claimed. */
  | { readonly kind: 'orphaned'; readonly lastHeartbeatAt: number; readonly why: Takeover }
  | { readonly kind: 'interrupted' }
  /** The run waits for an answer. */
  | { readonly kind: 'waiting' }
  /** The plan of the run is not deployed, and the run is left unchanged. `isRecorded`: the journal already has the block. */
  | { readonly kind: 'blocked'; readonly isRecorded: boolean }
  /** An operator suspended the run: no step may start. */
  | { readonly kind: 'suspended' }
  /** No step is ready before that time. */
  | { readonly kind: 'early'; readonly at: number }
  | { readonly kind: 'claim' };

/** Checks the strictest obstacle first. */
export function claimDecision(seen: Observation): ClaimDecision {
  const { state } = seen;
  if (isOver(state)) return { kind: 'over' };
  if (state.lease) return leasedDecision(seen);
  if (isSuspendedWithoutWorker(state)) return { kind: 'suspended' };
  switch (state.status) {
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'awaiting_approval':
    case 'waiting_external':
      return waitingDecision(seen);
    case 'replaying':
      // A replaying run cannot become blocked before it has imported all steps.
      return earlyDecision(seen) ?? claimOrBlocked(seen, false);
    default:
      return earlyDecision(seen) ?? { kind: 'claim' };
  }
}

function waitingDecision(seen: Observation): ClaimDecision {
  const { state, readAt } = seen;
  const isRecorded = isBlocked(state);
  if (isRecorded || isDue(state, readAt)) return claimOrBlocked(seen, isRecorded);
  const due = nextDue(state);
  return due === undefined ? { kind: 'waiting' } : { kind: 'early', at: due };
}

function claimOrBlocked({ state, deployed }: Observation, isRecorded: boolean): ClaimDecision {
  const needsPlan = !deployed.available && recoveryDecision(state, deployed).kind === 'suspend';
  return needsPlan ? { kind: 'blocked', isRecorded } : { kind: 'claim' };
}

function earlyDecision(seen: Observation): ClaimDecision | undefined {
  const { dueAt } = seen.state;
  const isEarly = dueAt !== undefined && dueAt > seen.readAt && !endsBackoff(seen);
  return isEarly ? { kind: 'early', at: dueAt } : undefined;
}

function endsBackoff({ state, readAt, skipsBackoff = false, deployed }: Observation): boolean {
  // An answer ends a step and clears the failures, but other waits may still be unannounced, or due while no code asks for them.
  const isBackoff = state.failures !== undefined || state.waits.some((wait) => needsDispatch(wait, readAt));
  return skipsBackoff && isBackoff && toleratesOverlap(state, deployed);
}

/** True for a run that waits to repeat a failed dispatch or announcement. A request to continue may repeat it earlier. */
export function isBackingOff(
  state: RunState,
  { now, deployed }: { readonly now: number; readonly deployed: DeployedPlan },
): boolean {
  const early = { state, metadata: {}, readAt: now, leaseMs: 0, deployed };
  return (
    claimDecision(early).kind === 'early' && claimDecision({ ...early, skipsBackoff: true }).kind === 'claim'
  );
}

function leasedDecision({
  state,
  metadata,
  readAt,
  leaseMs,
  delivery,
  deployed,
}: Observation): ClaimDecision {
  const lastHeartbeatAt = metadata.lastHeartbeatAt ?? state.updatedAt;
  const freeAt = lastHeartbeatAt + leaseMs;
  const why = takeover(state, delivery);
  if (readAt >= freeAt) return { kind: 'orphaned', lastHeartbeatAt, why: why ?? 'silence' };
  const tolerates = why === 'redelivered' ? toleratesRedelivery : toleratesOverlap;
  if (why === undefined || !tolerates(state, deployed)) return { kind: 'leased', freeAt };
  return { kind: 'orphaned', lastHeartbeatAt, why };
}

/**
 * Detects that the task of the lease was redelivered: the queue gave up on its dispatch, which has ended or will lose the run at
 * its next append.
 */
function takeover({ lease }: RunState, delivery: TaskDelivery | undefined): Takeover | undefined {
  if (!delivery || !follows(delivery, lease?.task)) return undefined;
  return delivery.answered ? 'answered' : 'redelivered';
}

/** Epoch of the previous dispatch, if it ran alone, released the run and died before it answered; otherwise undefined. */
export function lateDeath(state: RunState, delivery: TaskDelivery | undefined): number | undefined {
  const left = state.suspect?.left;
  if (isOver(state) || !delivery || delivery.answered || !follows(delivery, left?.task)) return undefined;
  return left?.epoch;
}

function follows(delivery: TaskRef, earlier: TaskRef | undefined): boolean {
  return earlier?.name === delivery.name && delivery.retryCount > earlier.retryCount;
}

/** True if a second worker may run the steps in progress, although the previous lease holder may still be working on them. */
export function toleratesOverlap(state: RunState, deployed: DeployedPlan): boolean {
  return state.effects.length === 0 && toleratesRedelivery(state, deployed);
}

/**
 * As {@link toleratesOverlap}, for a holder that is probably dead. Calls may be repeated if their receivers act once per key: if
 * the holder lives, such a receiver handles two concurrent calls with one key.
 */
export function toleratesRedelivery(state: RunState, deployed: DeployedPlan): boolean {
  return (
    deployed.available &&
    effectsToAwait(state, deployed).length === 0 &&
    !state.compensating &&
    stepsInDoubt(state, deployed).length === 0
  );
}

/** Open effects that must not be called or looked up while an earlier call may still be under way. */
export function effectsToAwait(state: RunState, deployed: DeployedPlan): OpenEffect[] {
  return state.effects.filter((effect) => !deployed.actsOncePerKey(effect));
}

/**
 * True if the parent ended or abandoned the child before the child started. The parent's cancellation came too early and is not
 * repeated.
 */
export function isAbandonedBy(parent: RunState, childId: string): boolean {
  const registration = parent.ties.find((one) => one.kind === 'child' && one.runId === childId);
  const isGivenUp = isOver(parent) || !parent.waits.some((wait) => wait.child?.runId === childId);
  return isGivenUp && registration?.kind === 'child' && registration.onParentEnd !== 'abandon';
}
