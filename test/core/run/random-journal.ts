/** Random journals that the engine could have written: each event is one that the state allows. */
import fc from 'fast-check';
import type {
  Decision,
  EventDraft,
  EventType,
  RunEvent,
  StepExecution,
  StepKind,
  StepRef,
  Wait,
} from '../../../packages/cairn/src/core/run/events.ts';
import { DECISIONS } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import {
  append,
  bySystem,
  childOf,
  claimed,
  created,
  failedRun,
  failedStep,
  orphaned,
  questionOf,
  resumed,
  sentBack,
  settledStep,
  succeeded,
  T0,
  timerOf,
  waitOf,
} from './journal-drafts.ts';

const LONGEST = 40;
/** `gate` asks about the output of `s0`, and `s1` follows `gate`. */
const BODIES: readonly Pick<StepRef, 'stepId' | 'itemKey'>[] = [
  { stepId: 's0' },
  { stepId: 's1' },
  { stepId: 'm' },
  { stepId: 'm', itemKey: '0' },
  { stepId: 'm', itemKey: '1' },
];
const SENT_BACK = ['s0', 'm', 'gate', 's1', 'e', 'kid'];

export interface Grown {
  readonly events: readonly RunEvent[];
  /** The state after each event. */
  readonly states: readonly RunState[];
}

/** Half of the runs have a parent that they must notify of their end. */
export function journals(): fc.Arbitrary<Grown> {
  const move = fc.record({ pick: fc.nat(), laterMs: fc.integer({ min: -1_000, max: 20_000 }) });
  return fc.tuple(fc.boolean(), fc.array(move, { maxLength: LONGEST })).map(grow);
}

function grow([isChild, moves]: [boolean, readonly { pick: number; laterMs: number }[]]): Grown {
  let { event, state } = created(isChild ? { parent: { runId: 'run_parent', stepId: 'kid' } } : {});
  const events = [event];
  const states = [state];
  let now = T0;
  for (const { pick, laterMs } of moves) {
    // Chooses the kind first, then the event, because steps have many possible ends and feedback has few forms.
    const kinds = draftsAt(state).filter((drafts) => drafts.length > 0);
    const drafts = kinds[pick % kinds.length] ?? [];
    const draft = drafts[Math.floor(pick / kinds.length) % drafts.length];
    if (!draft) break;
    // Clocks of different writers need not agree.
    now += laterMs;
    ({ event, state } = append(state, draft, now));
    events.push(event);
    states.push(state);
  }
  return { events, states };
}

/** Possible next events, by kind. */
function draftsAt(state: RunState): EventDraft[][] {
  if (isOver(state)) return [[{ type: 'run_superseded', initiator: 'user', data: { by: 'run_2' } }]];
  const { head, lease, status } = state;
  const signal = { signalId: `s${head % 3}`, name: 'n', key: 'k', payloadText: '[1]' };
  const anyone: EventDraft[] = [
    { type: 'signal_received', initiator: 'user', data: signal },
    { type: 'cancel_requested', initiator: 'user', actor: 'u', data: { stopKind: 'user', reason: 'r' } },
    { type: 'suspend_requested', initiator: 'user', actor: 'u', data: { reason: 'r' } },
    { type: 'continue_requested', initiator: 'user', actor: 'u', data: {} },
    bySystem('worker_lost', { epoch: state.suspect?.left?.epoch ?? 1 }),
    bySystem('snapshot_repaired', { beforeHash: 'b', afterHash: 'a' }),
  ];
  if (lease) return [anyone, answers(state), ...holderDrafts(state)];
  switch (status) {
    case 'interrupted':
      return [anyone, [resumed()], suspensions(state), [failedRun()]];
    case 'awaiting_approval':
    case 'waiting_external':
      return [anyone, [resumed()], answers(state)];
    default:
      return [anyone, [claimed(state)]];
  }
}

function holderDrafts(state: RunState): EventDraft[][] {
  const { status, updatedAt } = state;
  const deadlineAt = updatedAt + 3_600_000;
  if (status === 'pending') return [[bySystem('run_started', {}), bySystem('run_started', { deadlineAt })]];
  if (status === 'replaying') return [[bySystem('replay_finished', {}), orphaned(state)]];
  const inFlight = [{ stepId: 's0', revision: 1 }];
  return [
    BODIES.flatMap((body) => stepDrafts(state, body)),
    openings(state),
    suspensions(state),
    compensations(state),
    [
      bySystem('policy_evaluated', { allowed: true, policySnapshotId: 'p1' }),
      bySystem('policy_evaluated', { allowed: false, policySnapshotId: 'p2', reason: 'no', stepId: 's1' }),
      bySystem('replay_started', { mode: 'resume', from: 'run_0' }),
      bySystem('replay_started', {
        mode: 'fork',
        from: 'run_0',
        revisions: { s1: 2, m: 3 },
        feedback: [{ steps: ['s1'], text: 'again' }],
        marks: { m: { revision: 3, items: '2:abc' } },
      }),
    ],
    [
      bySystem('run_released', { reason: 'budget', inFlight: [] }),
      bySystem('run_released', { reason: 'retry', inFlight, dueAt: updatedAt + 9_000 }),
      bySystem('run_released', { reason: 'renewal', inFlight: [] }),
      orphaned(state),
      bySystem('run_completed', { result: { text: '{}' } }, '{}'),
      failedRun(),
      { type: 'run_cancelled', initiator: 'user', data: { stopKind: 'user' } },
    ],
  ];
}

/** Possible events of one execution of a step; none once it has ended. */
function stepDrafts(state: RunState, { stepId, itemKey }: Pick<StepRef, 'stepId' | 'itemKey'>): EventDraft[] {
  const kind: StepKind = stepId === 'm' ? 'map' : 'step';
  const changes = {
    kind,
    revision: revisionOf(state, stepId),
    ...(itemKey === undefined ? {} : { itemKey }),
  };
  const settled = settledStep(stepId, changes);
  if (!isOpen(state, settled)) return [];
  const { outputHash: _, ...execution } = settled;
  const error = { code: 'STEP_FAILED', message: 'no', stepId, retryable: true };
  const from = { runId: 'run_0', checkpoint: 3 };
  const { inputsHash: _hash, ...effect } = { ...settled, effectId: 'f', capabilityId: 'c' };
  return [
    bySystem('step_started', execution),
    succeeded(stepId, { ...changes, agent: 'a', tokensUsed: { input: 1, output: 2 } }),
    bySystem('step_degraded', { ...settled, reason: 'r' }, '0'),
    bySystem('step_skipped', { ...settled, reason: 'r' }, 'null'),
    bySystem('step_reused', { ...settled, from }),
    bySystem('step_reused', { ...settled, from, skipped: true }),
    failedStep(stepId, changes),
    bySystem('step_retry_scheduled', { ...execution, retryAt: T0 + 60_000, error }),
    bySystem('effect_attempted', effect),
    bySystem('effect_settled', { ...effect, outcome: 'recorded' }),
  ];
}

function openings(state: RunState): EventDraft[] {
  const { updatedAt, head } = state;
  const dueAt = updatedAt + 3_000;
  const waits: Wait[] = [
    waitOf('e', updatedAt),
    waitOf('e', updatedAt, { dueAt, heartbeat: { withinMs: 3_000 } }),
    timerOf('nap', { openedAt: updatedAt, dueAt }),
    questionOf('gate', { openedAt: updatedAt, dueAt: updatedAt + 90_000 }),
    questionOf('s0', { openedAt: updatedAt, purpose: 'doubt' }),
    childOf('kid', `run_child${head}`, {
      openedAt: updatedAt,
      child: { runId: `run_child${head}`, onParentEnd: head % 2 === 0 ? 'wait' : 'cancel' },
    }),
  ];
  return waits.flatMap((wait) => {
    const execution: StepExecution = {
      ...wait.execution,
      revision: revisionOf(state, wait.execution.stepId),
    };
    const open = state.waits.some((other) => stepKey(other.execution) === stepKey(execution));
    if (open || !isOpen(state, execution)) return [];
    return [bySystem('wait_opened', { wait: { ...wait, id: `w${head}`, execution } })];
  });
}

/** The writer of an answer need not hold the lease. */
function answers(state: RunState): EventDraft[] {
  return state.waits.flatMap((wait): EventDraft[] => {
    const waitId = wait.id;
    const late: EventDraft = { type: 'wait_expired', initiator: 'timeout', data: { waitId } };
    if (wait.kind !== 'approval') {
      const signalId = wait.kind === 'event' ? { signalId: `s${state.head % 3}` } : {};
      const dueAt = state.updatedAt + 5_000;
      const beats = wait.heartbeat
        ? [{ type: 'wait_heartbeat' as const, initiator: 'user' as const, data: { waitId, dueAt } }]
        : [];
      return [late, ...beats, { type: 'wait_resolved', initiator: 'user', data: { waitId, ...signalId } }];
    }
    const back = wait.purpose ? [] : [sentBack(waitId, SENT_BACK)];
    return [late, ...back, ...DECISIONS.map((decision) => decided(waitId, decision))];
  });
}

function decided(waitId: string, decision: Decision): EventDraft {
  const data = { waitId, decision, payloadText: '{"note":"n"}' };
  return { type: 'wait_resolved', initiator: 'approval', actor: 'ann', data };
}

function suspensions({ updatedAt, waits }: RunState): EventDraft[] {
  const until = updatedAt + 7_000;
  const parked = { reason: 'PLAN_VERSION_UNAVAILABLE', until };
  return [
    bySystem('run_suspended', { status: 'waiting_external', until, announced: true }),
    bySystem('run_suspended', { status: 'awaiting_approval', announced: true }),
    bySystem('run_suspended', { status: 'waiting_external', ...(waits.length === 0 ? {} : { until }) }),
    bySystem('run_suspended', { status: 'waiting_external', ...parked }),
  ];
}

function compensations({ compensating, error }: RunState): EventDraft[] {
  const why = { code: 'RUN_TIMEOUT', message: 'too long', retryable: false };
  const ref = { stepId: 's0', revision: 1 };
  if (!compensating) {
    return [bySystem('compensation_started', { steps: ['s0'], ...(error ? {} : { error: why }) })];
  }
  return [bySystem('step_compensated', ref), bySystem('compensation_failed', { ...ref, error: why })];
}

function revisionOf(state: RunState, stepId: string): number {
  return state.steps.get(stepId)?.revision ?? 1;
}

function isOpen(state: RunState, ref: StepRef): boolean {
  return state.steps.get(stepKey(ref))?.phase !== 'done';
}

/** Types that random journals must contain. */
export const ALL_TYPES: Readonly<Record<EventType, true>> = {
  run_created: true,
  run_claimed: true,
  run_started: true,
  step_started: true,
  step_succeeded: true,
  step_degraded: true,
  step_skipped: true,
  step_reused: true,
  step_failed: true,
  step_retry_scheduled: true,
  effect_attempted: true,
  effect_settled: true,
  wait_opened: true,
  wait_resolved: true,
  wait_expired: true,
  wait_heartbeat: true,
  signal_received: true,
  feedback_given: true,
  policy_evaluated: true,
  run_suspended: true,
  run_resumed: true,
  run_released: true,
  replay_started: true,
  replay_finished: true,
  cancel_requested: true,
  suspend_requested: true,
  worker_lost: true,
  continue_requested: true,
  orphan_detected: true,
  compensation_started: true,
  step_compensated: true,
  compensation_failed: true,
  run_completed: true,
  run_failed: true,
  run_cancelled: true,
  run_superseded: true,
  snapshot_repaired: true,
};
