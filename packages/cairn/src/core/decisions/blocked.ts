/**
 * Reason why a run without a worker does not continue although it needs no external input: its plan is not deployed, or the scan
 * has not found it yet. A total function of the fold, the deployment, and the time.
 */
import {
  blockedSince,
  isBlocked,
  isDue,
  isSuspendedWithoutWorker,
  nextBlockedCheckMs,
  nextDue,
  type RestingRun,
} from '../run/wake.ts';
import type { DeployedPlan } from './deployed-plan.ts';

export const BLOCKED_CODES = ['PLAN_VERSION_UNAVAILABLE', 'PLAN_CHANGED', 'DISPATCH_DUE'] as const;

export interface BlockedRun {
  /** `DISPATCH_DUE`: the next scan enqueues a dispatch. */
  readonly code: (typeof BLOCKED_CODES)[number];
  /** Start of the block, epoch ms. */
  readonly since: number;
  /** Longest time until the next scan, ms. */
  readonly checkMs: number;
}

/** The scan ticks each minute, and finds due runs. */
const TICK_MS = 60_000;

export function blockedOn(
  state: RestingRun,
  deployed: Pick<DeployedPlan, 'available' | 'changed'>,
  now: number,
): BlockedRun | undefined {
  const standing = standingOf(state, now);
  // A suspended run is reported as suspended.
  if (!standing || state.lease || isSuspendedWithoutWorker(state)) return undefined;
  const { canContinue, ...times } = standing;
  if (deployed.available) return canContinue ? { code: 'DISPATCH_DUE', ...times } : undefined;
  return { code: deployed.changed ? 'PLAN_CHANGED' : 'PLAN_VERSION_UNAVAILABLE', ...times };
}

interface BlockedStanding extends Pick<BlockedRun, 'since' | 'checkMs'> {
  /** True if the run continues by itself once its plan is deployed. */
  readonly canContinue: boolean;
}

function standingOf(state: RestingRun, now: number): BlockedStanding | undefined {
  switch (state.status) {
    case 'awaiting_approval':
    case 'waiting_external':
      if (isBlocked(state))
        return {
          since: blockedSince(state),
          checkMs: wholeTicks(nextBlockedCheckMs(state, now)),
          canContinue: true,
        };
      if (!isDue(state, now)) return undefined;
      return { since: Math.min(now, nextDue(state) ?? now), checkMs: TICK_MS, canContinue: true };
    // Without its plan, a replaying run can neither take over results nor become blocked.
    case 'replaying':
      return { since: state.updatedAt, checkMs: TICK_MS, canContinue: false };
    default:
      return undefined;
  }
}

/** Time until the tick of the scan that handles the run. */
function wholeTicks(ms: number): number {
  return Math.ceil(ms / TICK_MS) * TICK_MS;
}
