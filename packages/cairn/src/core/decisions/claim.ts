/** Decision of a dispatch about the run it has just read. Pure; the drive carries it out. */

import type { Takeover, TaskRef } from '../run/data/takeover.ts';
import type { RunState, SoftState } from '../run/state.ts';
import { isOver } from '../run/state.ts';
import { isDue, isParked, nextDue, standsSuspended } from '../run/wake.ts';
import type { DeployedPlan } from './deployed.ts';
import { stepsInDoubt } from './end-facts.ts';

/** A delivery of the queue, as its handler sees it. */
export interface TaskDelivery extends TaskRef {
  /** The delivery before this one was answered by the function: its dispatch lives, or ended in peace. */
  readonly answered?: boolean;
}

export interface Observation {
  readonly state: RunState;
  readonly soft: SoftState;
  /** The store's time of the read; with `lastHeartbeatAt`, also the store's, it judges staleness by one clock. */
  readonly readAt: number;
  readonly leaseMs: number;
  /** The delivery of the dispatch that looks, if the queue named it. */
  readonly delivery?: TaskDelivery | undefined;
  /** Absent for callers without a delivery. */
  readonly deployed?: DeployedPlan;
  /** A person wants the run to go on: it does not rest after a failed dispatch. */
  readonly isAsked?: boolean;
}

export type ClaimVerdict =
  /** The run has ended. */
  | { readonly kind: 'over' }
  /** A worker holds it; `freeAt` (store time, epoch ms) is when that lease expires unless it is extended. */
  | { readonly kind: 'leased'; readonly freeAt: number }
  /** Its holder has gone silent, or its task has come again: what the scan does comes first. */
  | { readonly kind: 'orphaned'; readonly lastHeartbeatAt: number; readonly why: Takeover }
  | { readonly kind: 'interrupted' }
  /** It waits for an answer, a deadline, or (`parked`) a deployment. */
  | { readonly kind: 'waiting'; readonly parked: boolean }
  /** An operator wants nothing new to be started. */
  | { readonly kind: 'suspended' }
  /** Nothing is ready before that time. */
  | { readonly kind: 'early'; readonly at: number }
  | { readonly kind: 'claim' };

function waitingVerdict(state: RunState, readAt: number): ClaimVerdict {
  if (isParked(state)) return { kind: 'waiting', parked: true };
  if (isDue(state, readAt)) return { kind: 'claim' };
  const due = nextDue(state);
  return due === undefined ? { kind: 'waiting', parked: false } : { kind: 'early', at: due };
}

/** Judges in the order of what forbids most. */
export function claimVerdict(seen: Observation): ClaimVerdict {
  const { state, readAt } = seen;
  if (isOver(state)) return { kind: 'over' };
  if (state.lease) return leasedVerdict(seen);
  if (standsSuspended(state)) return { kind: 'suspended' };
  switch (state.status) {
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'awaiting_approval':
    case 'waiting_external':
      return waitingVerdict(state, readAt);
    default: {
      const { dueAt } = state;
      if (dueAt === undefined || dueAt <= readAt || isCutShort(seen)) return { kind: 'claim' };
      return { kind: 'early', at: dueAt };
    }
  }
}

function isCutShort({ state, isAsked = false, deployed }: Observation): boolean {
  return isAsked && state.failures !== undefined && deployed !== undefined && bearsASecond(state, deployed);
}

/** True for a run that does nothing until a time because its last dispatch failed, unless something of that dispatch may still run and must not overlap. */
export function restsAfterFailure(
  state: RunState,
  { now, deployed }: { readonly now: number; readonly deployed: DeployedPlan },
): boolean {
  const early = { state, soft: {}, readAt: now, leaseMs: 0, deployed };
  return claimVerdict(early).kind === 'early' && claimVerdict({ ...early, isAsked: true }).kind === 'claim';
}

function leasedVerdict({ state, soft, readAt, leaseMs, delivery, deployed }: Observation): ClaimVerdict {
  const lastHeartbeatAt = soft.lastHeartbeatAt ?? state.updatedAt;
  const freeAt = lastHeartbeatAt + leaseMs;
  const why = takeover(state, delivery);
  if (readAt >= freeAt) return { kind: 'orphaned', lastHeartbeatAt, why: why ?? 'silence' };
  if (why === undefined || !deployed || !bearsASecond(state, deployed)) return { kind: 'leased', freeAt };
  return { kind: 'orphaned', lastHeartbeatAt, why };
}

/**
 * The task that holds the lease was redelivered: the queue gave up on its dispatch, which has ended or will find at its
 * next append that it lost the run.
 */
function takeover({ lease }: RunState, delivery: TaskDelivery | undefined): Takeover | undefined {
  if (!delivery || !follows(delivery, lease?.task)) return undefined;
  return delivery.answered ? 'answered' : 'redelivered';
}

/**
 * The dispatch before this delivery ran alone, let go of the run, and died before it answered: its epoch. Undefined: nothing
 * says so.
 */
export function lateDeath(state: RunState, delivery: TaskDelivery | undefined): number | undefined {
  const left = state.suspect?.left;
  if (isOver(state) || !delivery || delivery.answered || !follows(delivery, left?.task)) return undefined;
  return left?.epoch;
}

function follows(delivery: TaskRef, earlier: TaskRef | undefined): boolean {
  return earlier?.name === delivery.name && delivery.retryCount > earlier.retryCount;
}

/** True if nothing is running that must not overlap with the previous holder, which may still be working. */
export function bearsASecond(state: RunState, deployed: DeployedPlan): boolean {
  const isActing = state.effects.length > 0 || state.compensating;
  return deployed.available && !isActing && stepsInDoubt(state, deployed).length === 0;
}
