/** What a drive may do with a run it has just read. Pure: the drive carries the verdict out. */
import type { RunState, SoftState } from '../run/state.ts';
import { isOver } from '../run/state.ts';
import { hasUntold, isParked, nextDue } from '../run/wake.ts';

export interface Observation {
  readonly state: RunState;
  readonly soft: SoftState;
  /** The store's time of the read; with `lastHeartbeatAt`, also the store's, it judges staleness by one clock. */
  readonly readAt: number;
  readonly leaseMs: number;
}

export type ClaimVerdict =
  /** The run has ended. */
  | { readonly kind: 'over' }
  /** Somebody drives it; `freeAt` (store time, epoch ms) is when that lease expires unless it is extended. */
  | { readonly kind: 'leased'; readonly freeAt: number }
  /** Its holder has gone silent: what the scan does comes first (section 9). */
  | { readonly kind: 'orphaned'; readonly lastHeartbeatAt: number }
  | { readonly kind: 'interrupted' }
  /** It waits for somebody: an answer, a deadline, or (`parked`) a deployment. */
  | { readonly kind: 'waiting'; readonly parked: boolean }
  /** Nothing is ready before that time. */
  | { readonly kind: 'early'; readonly at: number }
  | { readonly kind: 'claim' };

function waitingVerdict(state: RunState, readAt: number): ClaimVerdict {
  if (isParked(state)) return { kind: 'waiting', parked: true };
  if (hasUntold(state)) return { kind: 'claim' };
  const due = nextDue(state);
  if (due === undefined) return { kind: 'waiting', parked: false };
  return due <= readAt ? { kind: 'claim' } : { kind: 'early', at: due };
}

/** Judges in the order of what forbids most. */
export function claimVerdict({ state, soft, readAt, leaseMs }: Observation): ClaimVerdict {
  if (isOver(state)) return { kind: 'over' };
  if (state.lease) {
    const lastHeartbeatAt = soft.lastHeartbeatAt ?? state.updatedAt;
    const freeAt = lastHeartbeatAt + leaseMs;
    return readAt < freeAt ? { kind: 'leased', freeAt } : { kind: 'orphaned', lastHeartbeatAt };
  }
  switch (state.status) {
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'awaiting_approval':
    case 'waiting_external':
      return waitingVerdict(state, readAt);
    default:
      return state.dueAt !== undefined && state.dueAt > readAt
        ? { kind: 'early', at: state.dueAt }
        : { kind: 'claim' };
  }
}
