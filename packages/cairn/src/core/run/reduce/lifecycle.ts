/** Run events: status, lease and terminal fields. */
import { newBudget } from '../../budget/budget.ts';
import { withMark } from '../../plan/item-marks.ts';
import type { RunEvent, RunLimits, Wait } from '../events.ts';
import type { RunState } from '../state.ts';
import { assertTransition, type RunStatus } from '../status.ts';
import type { Reducers } from './index.ts';
import { afterDeath, afterLateDeath, afterRelease, afterShutdown } from './suspicion.ts';

type LifecycleEvent =
  | 'run_claimed'
  | 'run_started'
  | 'run_released'
  | 'run_suspended'
  | 'run_resumed'
  | 'orphan_detected'
  | 'worker_lost'
  | 'replay_started'
  | 'replay_finished'
  | 'policy_evaluated'
  | 'cancel_requested'
  | 'suspend_requested'
  | 'continue_requested'
  | 'run_completed'
  | 'run_failed'
  | 'run_cancelled'
  | 'run_superseded'
  | 'snapshot_repaired';

/** A member without a value: absent in the type, undefined in the state (`state-shape.ts`). */
const ABSENT = undefined as never;

/** An event without limits leaves those of the run as they are. */
function limited({ deadlineAt, budget }: RunLimits): Pick<Partial<RunState>, 'deadlineAt' | 'budget'> {
  if (deadlineAt === undefined) return budget ? { budget: newBudget(budget) } : {};
  return budget ? { deadlineAt, budget: newBudget(budget) } : { deadlineAt };
}

export const lifecycleReducers: Reducers<LifecycleEvent> = {
  run_claimed: (state, { seq, data }) => {
    const { alone, deadlineAt: _, budget: __, ...lease } = data;
    if (lease.epoch <= state.epoch)
      throw new Error(`run ${state.id}: epoch ${lease.epoch} after ${state.epoch}`);
    return {
      lease: alone ? { ...lease, aloneSince: seq } : lease,
      epoch: lease.epoch,
      dueAt: ABSENT,
      parked: ABSENT,
      ...limited(data),
    };
  },
  run_started: (state, event) => ({
    status: moveTo(state, 'running'),
    startedAt: event.at,
    checkpointHead: event.seq,
    ...limited(event.data),
  }),
  run_released: (state, { at, data }) => ({
    lease: ABSENT,
    inFlight: data.inFlight,
    dueAt: data.dueAt ?? ABSENT,
    failures: data.error ? { times: (state.failures?.times ?? 0) + 1, error: data.error } : ABSENT,
    ...(data.interrupted ? afterShutdown(state, { interrupted: data.interrupted, at }) : afterRelease(state)),
  }),
  run_suspended: (state, event) => ({
    status: moveTo(state, event.data.status),
    lease: ABSENT,
    dueAt: event.data.until ?? ABSENT,
    parked: event.data.reason ?? ABSENT,
    waits: event.data.announced ? state.waits.map(announced) : state.waits,
    checkpointHead: event.seq,
    interruptions: 0,
    failures: ABSENT,
    error: state.error ?? event.data.error ?? ABSENT,
    ...afterRelease(state),
  }),
  run_resumed: (state) => ({
    status: afterResume(state),
    // Waking from a wait is normal; only interruptions are counted.
    resumeCount: state.resumeCount + (state.status === 'interrupted' ? 1 : 0),
    dueAt: ABSENT,
    parked: ABSENT,
    policyDue: true,
  }),
  orphan_detected: (state, { data }) => ({
    // A run can lose its dispatch between claim and start; then nothing was interrupted.
    status: state.status === 'pending' ? 'pending' : moveTo(state, 'interrupted'),
    lease: ABSENT,
    interruptions: state.interruptions + 1,
    ...((data.why === 'silence' || data.why === 'redelivered') && afterDeath(state)),
  }),
  worker_lost: (state, { data }) => afterLateDeath(state, data.epoch),
  replay_started: replayStarted,
  replay_finished: (state) => ({ status: moveTo(state, 'running'), replay: 'finished' }),
  policy_evaluated: (state, { data }) => ({
    policySnapshotId: data.policySnapshotId,
    policyDue: data.stepId === undefined ? false : state.policyDue,
  }),
  cancel_requested: (state, event) => ({
    // A waiting run must end now and does not wait for its scheduled attempt.
    dueAt: ABSENT,
    cancellation: {
      ...(state.cancellation ?? {
        stopKind: event.data.stopKind,
        requestedAt: event.at,
        ...(event.data.reason === undefined ? {} : { reason: event.data.reason }),
        ...(event.actor === undefined ? {} : { actor: event.actor }),
      }),
      ...(event.data.withoutUndo && { withoutUndo: true as const }),
    },
  }),
  suspend_requested: (state, event) => ({
    suspension: state.suspension ?? {
      reason: event.data.reason,
      requestedAt: event.at,
      ...(event.actor === undefined ? {} : { actor: event.actor }),
    },
  }),
  // The run moves again: its policy may decide otherwise by now.
  continue_requested: () => ({ suspension: ABSENT, policyDue: true }),
  run_completed: (state, event) => ({
    ...ended(state, event, 'completed'),
    result: event.data.result,
    waits: [],
    unread: unreadAtEnd(state, event.data),
  }),
  run_failed: (state, event) => ({
    ...ended(state, event, 'failed'),
    error: event.data.error,
    ...(state.waits.length > 0 ? { lastHandoff: state.waits, waits: [] } : {}),
  }),
  run_cancelled: (state, event) => ({
    ...ended(state, event, 'cancelled'),
    stopKind: event.data.stopKind,
    waits: [],
    unread: unreadAtEnd(state, event.data),
  }),
  run_superseded: (_state, { data }) => ({ supersededBy: data.by }),
  snapshot_repaired: () => ({}),
};

/** A run interrupted while it reused steps continues to reuse them. One that has finished the reuse is already running. */
function afterResume(state: RunState): RunStatus {
  if (state.status === 'interrupted' && state.replay === 'under_way') return moveTo(state, 'replaying');
  const resumesAnother = state.status === 'running' && state.resumedFrom !== undefined;
  return resumesAnother ? 'running' : moveTo(state, 'running');
}

/** Steps that run again use their next revision; those reused earlier are kept. */
function replayStarted(state: RunState, { seq, data }: RunEvent<'replay_started'>): Partial<RunState> {
  const { revisions = {}, feedback = [], marks = {}, more } = data;
  const steps = state.steps.withMutations((map) => {
    for (const [id, revision] of Object.entries(revisions)) {
      if (!map.has(id)) map.set(id, { phase: 'again', seq, revision });
    }
  });
  const entries = feedback.map((entry) => ({ ...entry, seq }));
  let { itemMarks } = state;
  for (const [stepId, mark] of Object.entries(marks)) itemMarks = withMark(itemMarks, { stepId, ...mark });
  const known = { steps, itemMarks: itemMarks ?? ABSENT };
  if (more) return { ...known, feedback: [...state.feedback, ...entries] };
  return { status: moveTo(state, 'replaying'), replay: 'under_way', ...known, feedback: entries };
}

/** Older ends do not have this member, and left no signal unread. */
function unreadAtEnd({ unread }: RunState, end: { readonly unread?: number }): RunState['unread'] {
  return end.unread === undefined ? [] : unread;
}

function announced(wait: Wait): Wait {
  return wait.announced ? wait : { ...wait, announced: true };
}

function moveTo(state: RunState, to: RunStatus): RunStatus {
  assertTransition(state.status, to);
  return to;
}

function ended(
  state: RunState,
  event: RunEvent,
  to: 'completed' | 'failed' | 'cancelled',
): Partial<RunState> {
  return {
    status: moveTo(state, to),
    lease: ABSENT,
    dueAt: ABSENT,
    parked: ABSENT,
    suspension: ABSENT,
    currentStep: ABSENT,
    failures: ABSENT,
    inFlight: [],
    checkpointHead: event.seq,
    completedAt: event.at,
    durationMs: event.at - (state.startedAt ?? state.createdAt),
  };
}
