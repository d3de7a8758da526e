/** Drafts of events like those of the engine, and journals sealed and folded from them by the core. */
import { optional } from '../../../packages/cairn/src/core/optional.ts';
import { emptyChain, seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type {
  BudgetQuestion,
  ChildWait,
  EventData,
  EventDraft,
  EventType,
  EventWait,
  RunEvent,
  StepExecution,
  StepKind,
  StepQuestion,
  StepSettled,
  TimerWait,
  Wait,
} from '../../../packages/cairn/src/core/run/events.ts';
import { initialState, reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';

export const RUN_ID = 'run_random';
export const T0 = Date.UTC(2026, 4, 17, 9, 30);

export const CREATED: EventDraft<'run_created'> = {
  type: 'run_created',
  initiator: 'webhook',
  data: {
    tenantId: 't1',
    environment: 'test',
    type: 'w',
    planVersion: 1,
    threadId: 'th',
    trigger: { source: 'webhook' },
    traceId: 'a'.repeat(32),
    inputHash: 'b'.repeat(64),
    input: { text: '{}' },
    rootRunId: RUN_ID,
  },
};

/** The first event of a run and the state after it. */
export function created(more: Partial<EventData['run_created']> = {}): {
  event: RunEvent;
  state: RunState;
} {
  const draft: EventDraft<'run_created'> = { ...CREATED, data: { ...CREATED.data, ...more } };
  const event = seal(draft, { chain: emptyChain(RUN_ID), id: 'e1', now: T0 }) as RunEvent<'run_created'>;
  return { event, state: initialState(RUN_ID, event) };
}

/** Seals the draft onto the state and folds it. */
export function append(
  state: RunState,
  draft: EventDraft,
  now = state.updatedAt,
): { event: RunEvent; state: RunState } {
  const event = seal(draft, { chain: state, id: `e${state.head + 1}`, now });
  return { event, state: reduce(state, event) };
}

/** The state after several drafts in a row. */
export function grownBy(state: RunState, drafts: readonly EventDraft[], now?: number): RunState {
  return drafts.reduce((current, draft) => append(current, draft, now).state, state);
}

/** A draft by the system. */
export function bySystem<T extends EventType>(type: T, data: EventData[T], outputText?: string): EventDraft {
  const output = outputText === undefined ? {} : { outputText };
  return { type, initiator: 'system', data, ...output } as unknown as EventDraft;
}

export function claimed(state: RunState, leaseMs = 5_000): EventDraft {
  const epoch = state.epoch + 1;
  return bySystem('run_claimed', { owner: `o${epoch}`, epoch, expiresAt: state.updatedAt + leaseMs });
}

/** A run that a dispatch has just begun. */
export function running(more: Partial<EventData['run_created']> = {}): RunState {
  const { state } = created(more);
  return grownBy(state, [claimed(state), bySystem('run_started', {})]);
}

export function orphaned(state: RunState): EventDraft {
  const { owner = '', epoch = 0 } = state.lease ?? {};
  const data = { owner, epoch, lastHeartbeatAt: state.updatedAt };
  return { type: 'orphan_detected', initiator: 'timeout', data };
}

export function resumed(): EventDraft {
  return bySystem('run_resumed', { reason: 'r' });
}

export function failedRun(): EventDraft {
  return bySystem('run_failed', { error: { code: 'X', message: 'x', retryable: false } });
}

export function settledStep(stepId: string, changes: Partial<StepSettled> = {}): StepSettled {
  return {
    stepId,
    revision: 1,
    kind: 'step',
    attempt: 1,
    inputsHash: 'c'.repeat(64),
    startedAt: T0,
    outputHash: 'd'.repeat(64),
    outputsSummary: '1',
    resumable: true,
    idempotent: true,
    durationMs: 5,
    ...changes,
  };
}

export function succeeded(stepId: string, changes: Partial<StepSettled> = {}): EventDraft {
  return bySystem('step_succeeded', settledStep(stepId, changes), '1');
}

export function failedStep(stepId: string, changes: Partial<StepSettled> = {}): EventDraft {
  const error = { code: 'STEP_FAILED', message: `${stepId} failed`, stepId, retryable: false };
  return bySystem('step_failed', { ...settledStep(stepId, changes), error });
}

function openWait(stepId: string, kind: StepKind) {
  const { revision, attempt, inputsHash, startedAt } = settledStep(stepId);
  const execution: StepExecution = { stepId, kind, revision, attempt, inputsHash, startedAt };
  return { id: `${stepId}.1`, execution, openedAt: T0 };
}

/** An open wait for an event. */
export function waitOf(stepId: string, openedAt = T0, changes: Partial<EventWait> = {}): EventWait {
  return { ...openWait(stepId, 'event'), openedAt, kind: 'event', name: 'n', key: 'k', ...changes };
}

/** A sleep. */
export function timerOf(stepId: string, changes: Partial<TimerWait> = {}): TimerWait {
  return { ...openWait(stepId, 'sleep'), kind: 'timer', dueAt: T0 + 1_000, ...changes };
}

/** An open question about the budget: of the day, or of the run. */
export function budgetQuestionOf(stepId: string, day?: string): BudgetQuestion {
  return { ...openWait(stepId, 'approval'), ...QUESTION, purpose: 'budget', ...optional('day', day) };
}

/** An open question to a person. */
export function questionOf(stepId: string, changes: Partial<StepQuestion> = {}): StepQuestion {
  return { ...openWait(stepId, 'approval'), ...QUESTION, ...changes };
}

const QUESTION = { kind: 'approval', detailText: '{"question":"?"}' } as const;

/** A running child. */
export function childOf(stepId: string, runId: string, changes: Partial<ChildWait> = {}): ChildWait {
  const child = { runId, onParentEnd: 'cancel' } as const;
  return { ...openWait(stepId, 'child'), kind: 'child', child, ...changes };
}

export function opened(wait: Wait): EventDraft {
  return bySystem('wait_opened', { wait });
}

/** Steps sent back by the approval `waitId`. */
export function sentBack(
  waitId: string,
  again: readonly string[],
  more: { readonly undoable?: readonly string[]; readonly feedback?: string } = {},
): EventDraft {
  const data = { waitId, steps: again.slice(0, 1), again, feedback: 'once more', ...more };
  return { type: 'feedback_given', initiator: 'approval', actor: 'ann', data };
}
