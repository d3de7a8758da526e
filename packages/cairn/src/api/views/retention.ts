/** Retention of ended runs, as operators see it. */
import type { KeptReason, LegalHold } from '../../core/retention/lineage.ts';
import { iso, isoIf } from '../../core/run/readable.ts';
import type {
  ExpiredRun,
  RetentionState,
  RunRetentionState,
} from '../../operations/retention/preview-retention.ts';
import type { View } from './run.ts';

export function holdView({ by, at, reason }: LegalHold): View {
  return { by, at: iso(at), reason };
}

export function runRetentionView({ expireAt, hold, ...state }: RunRetentionState): View {
  return {
    ...retentionView(state),
    ...(expireAt === undefined ? {} : { expiresAt: iso(expireAt) }),
    ...(hold === undefined ? {} : { legalHold: holdView(hold) }),
  };
}

export function expiredRunView({ type, status, completedAt, ...state }: ExpiredRun): View {
  return { ...retentionView(state), type, status, completedAt: iso(completedAt) };
}

/** A lineage that was deleted after it was found counts as deleted. */
function retentionView({ runId, rootRunId, runs, decision }: RetentionState): View {
  const keeps = decision.kind === 'keep';
  return {
    runId,
    rootRunId,
    runs,
    would: keeps ? 'keep' : 'delete',
    because: keeps ? reasonView(decision.reason) : undefined,
  };
}

function reasonView(reason: KeptReason): View {
  const { why, runId } = reason;
  switch (reason.why) {
    case 'not_due':
      return { why, runId, until: isoIf(reason.dueAt) };
    case 'parent':
      return { why, runId, relatedRunId: reason.parentRunId };
    case 'child':
      return { why, runId, relatedRunId: reason.childRunId };
    default:
      return { why, runId };
  }
}
