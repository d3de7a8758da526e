/** Random journals that the engine could have written: at each place one of the events that the state allows. */
import fc from 'fast-check';
import { emptyChain, seal } from '../../../functions/src/core/run/chain.ts';
import type { EventDraft, RunEvent, StepSettled, Wait } from '../../../functions/src/core/run/events.ts';
import { initialState, reduce } from '../../../functions/src/core/run/reduce/index.ts';
import { isOver, type RunState } from '../../../functions/src/core/run/state.ts';

export const RUN_ID = 'run_random';
export const T0 = Date.UTC(2026, 4, 17, 9, 30);
const STEPS = ['s0', 's1', 's2', 's3'];
const LONGEST = 40;

export interface Grown {
  readonly events: readonly RunEvent[];
  /** The state after each event. */
  readonly states: readonly RunState[];
}

export function journals(): fc.Arbitrary<Grown> {
  return fc
    .array(fc.record({ pick: fc.nat(), laterMs: fc.integer({ min: -1_000, max: 20_000 }) }), {
      maxLength: LONGEST,
    })
    .map(grow);
}

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
export function created(): { event: RunEvent; state: RunState } {
  const event = seal(CREATED, { chain: emptyChain(RUN_ID), id: 'e1', now: T0 }) as RunEvent<'run_created'>;
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

function grow(moves: readonly { pick: number; laterMs: number }[]): Grown {
  let { event, state } = created();
  const events = [event];
  const states = [state];
  let now = T0;
  for (const { pick, laterMs } of moves) {
    const allowed = draftsAt(state);
    const draft = allowed[pick % allowed.length];
    if (!draft) break;
    // Clocks of different writers need not agree.
    now += laterMs;
    ({ event, state } = append(state, draft, now));
    events.push(event);
    states.push(state);
  }
  return { events, states };
}

function draftsAt(state: RunState): EventDraft[] {
  if (isOver(state)) return [{ type: 'run_superseded', initiator: 'user', data: { by: 'run_2' } }];
  const anyone: EventDraft[] = [
    { type: 'signal_received', initiator: 'user', data: { signalId: 's', name: 'n', payloadText: '[1]' } },
    { type: 'cancel_requested', initiator: 'user', actor: 'u', data: { stopKind: 'user', reason: 'r' } },
  ];
  const { lease, status } = state;
  if (lease) return [...anyone, ...holderDrafts(state, lease)];
  switch (status) {
    case 'interrupted':
      return [...anyone, resumed(), suspended(state), failedRun()];
    case 'awaiting_approval':
    case 'waiting_external':
      return [...anyone, resumed(), ...waitDrafts(state)];
    default:
      return [...anyone, claimed(state)];
  }
}

function holderDrafts(state: RunState, { owner, epoch }: { owner: string; epoch: number }): EventDraft[] {
  if (state.status === 'pending') return [{ type: 'run_started', initiator: 'system', data: {} }];
  const open = STEPS.filter((id) => state.steps.get(id)?.phase !== 'done');
  return [
    ...open.flatMap(stepDrafts),
    ...waitDrafts(state),
    suspended(state),
    failedRun(),
    { type: 'run_released', initiator: 'system', data: { reason: 'budget', inFlight: [] } },
    {
      type: 'run_released',
      initiator: 'system',
      data: { reason: 'retry', inFlight: [{ stepId: 's0', revision: 1 }], dueAt: state.updatedAt + 9_000 },
    },
    {
      type: 'orphan_detected',
      initiator: 'timeout',
      data: { owner, epoch, lastHeartbeatAt: state.updatedAt },
    },
    { type: 'run_completed', initiator: 'system', data: { result: { text: '{}' } }, outputText: '{}' },
    { type: 'run_cancelled', initiator: 'user', data: { stopKind: 'user' } },
  ];
}

export function claimed(state: RunState, leaseMs = 5_000): EventDraft {
  const epoch = state.epoch + 1;
  return {
    type: 'run_claimed',
    initiator: 'system',
    data: { owner: `o${epoch}`, epoch, expiresAt: state.updatedAt + leaseMs },
  };
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

/** An open wait for an event. */
export function waitOf(stepId: string, openedAt = T0): Wait {
  const { revision, attempt, inputsHash, startedAt } = settledStep(stepId);
  const execution = { stepId, kind: 'event', revision, attempt, inputsHash, startedAt } as const;
  return { id: `${stepId}.1`, kind: 'event', execution, openedAt, name: 'n', key: 'k' };
}

function stepDrafts(stepId: string): EventDraft[] {
  const execution = settledStep(stepId);
  const error = { code: 'STEP_FAILED', message: 'no', stepId, retryable: true };
  return [
    { type: 'step_started', initiator: 'system', data: execution },
    { type: 'step_succeeded', initiator: 'system', data: execution, outputText: '1' },
    { type: 'step_skipped', initiator: 'system', data: { ...execution, reason: 'r' }, outputText: 'null' },
    { type: 'step_failed', initiator: 'system', data: { ...execution, error } },
    {
      type: 'step_retry_scheduled',
      initiator: 'system',
      data: { ...execution, retryAt: T0 + 60_000, error },
    },
  ];
}

function waitDrafts(state: RunState): EventDraft[] {
  const id = `w${state.head}`;
  const wait = { ...waitOf('s3', state.updatedAt), id };
  const drafts: EventDraft[] = state.waits.flatMap((open): EventDraft[] => [
    { type: 'wait_resolved', initiator: 'user', data: { waitId: open.id } },
    { type: 'wait_expired', initiator: 'timeout', data: { waitId: open.id } },
  ]);
  if (!state.lease || state.steps.get('s3')?.phase === 'done') return drafts;
  const dueAt = state.updatedAt + 3_000;
  return [
    ...drafts,
    { type: 'wait_opened', initiator: 'system', data: { wait } },
    { type: 'wait_opened', initiator: 'system', data: { wait: { ...wait, dueAt } } },
  ];
}

export function resumed(): EventDraft {
  return { type: 'run_resumed', initiator: 'system', data: { reason: 'r' } };
}

export function failedRun(): EventDraft {
  const error = { code: 'X', message: 'x', retryable: false };
  return { type: 'run_failed', initiator: 'system', data: { error } };
}

function suspended(state: RunState): EventDraft {
  const until = state.updatedAt + 7_000;
  return { type: 'run_suspended', initiator: 'system', data: { status: 'waiting_external', until } };
}
