/** Waits, signals and feedback. */
import { sha256Hex } from '../../encoding/hash.ts';
import type { Decision, EventWait, RunEvent, Wait } from '../events.ts';
import {
  type Completed,
  type Decided,
  type ExternalRegistration,
  type RunState,
  stepIdOf,
  stepKey,
} from '../state.ts';
import type { Reducers } from './index.ts';
import { isOutdated, put } from './steps.ts';

type WaitEvent =
  | 'wait_opened'
  | 'wait_heartbeat'
  | 'wait_resolved'
  | 'wait_expired'
  | 'signal_received'
  | 'feedback_given';

/** Number of signal ids that a run stores: a sender repeats a signal within its next few messages. */
export const RECEIVED_IDS = 200;

export const waitReducers: Reducers<WaitEvent> = {
  wait_opened: (state, { seq, data: { wait } }) => {
    const { execution } = wait;
    if (isOutdated(state, execution)) return {};
    const registration = registrationOf(wait);
    return {
      ...put(state, execution, { phase: 'waiting', seq, revision: execution.revision }),
      waits: [...state.waits, wait],
      ...(registration ? { ties: [...state.ties, registration] } : {}),
    };
  },
  wait_heartbeat: (state, { at, data: { waitId, dueAt } }) => {
    const wait = openWait(state, waitId);
    if (!wait.heartbeat) throw new Error(`run ${state.id}: wait '${waitId}' has no heartbeat`);
    const extended: EventWait = { ...wait, dueAt, heartbeat: { ...wait.heartbeat, lastAt: at } };
    return { waits: state.waits.map((each) => (each === wait ? extended : each)) };
  },
  wait_resolved: (state, event) => {
    const { waitId, decision, signalId } = event.data;
    const wait = openWait(state, waitId);
    return {
      ...closed(state, wait),
      ties: registrationsAfter(state, event.data),
      ...(decision === undefined ? {} : { decisions: decided(state, wait, decision, event) }),
      ...(signalId === undefined ? {} : taken(state, signalId)),
    };
  },
  wait_expired: (state, event) => {
    const wait = openWait(state, event.data.waitId);
    const decisions = wait.kind === 'approval' ? decided(state, wait, 'expired', event) : state.decisions;
    return { ...closed(state, wait), decisions };
  },
  signal_received: (state, { at, data }) => ({
    unread: [...state.unread, { ...data, at }],
    received: remember(state, data.signalId),
  }),
  feedback_given: (state, event) => sentBack(state, event),
};

/** A child that reported to its parent needs no registration; an event mailbox entry is removed at the end. */
function registrationsAfter(
  { ties }: RunState,
  { waitId, signalId }: RunEvent<'wait_resolved'>['data'],
): ExternalRegistration[] {
  return ties.flatMap((registration): ExternalRegistration[] => {
    if (registration.waitId !== waitId) return [registration];
    if (registration.kind === 'child') return [];
    return [signalId === undefined ? registration : { ...registration, eventId: signalId }];
  });
}

function openWait(state: RunState, waitId: string): Wait {
  const wait = state.waits.find(({ id }) => id === waitId);
  if (!wait) throw new Error(`run ${state.id} has no open wait '${waitId}'`);
  return wait;
}

function closed(state: RunState, wait: Wait): Pick<RunState, 'waits'> {
  return { waits: state.waits.filter(({ id }) => id !== wait.id) };
}

function decided(
  { decisions }: RunState,
  wait: Wait,
  decision: Decision | 'expired',
  event: RunEvent<'wait_resolved'> | RunEvent<'wait_expired'>,
): Decided[] {
  const stepId = stepKey(wait.execution);
  const payload = event.type === 'wait_resolved' ? (event.data.payloadText ?? '') : '';
  const entry: Decided = {
    stepId,
    waitId: wait.id,
    decision,
    payloadHash: sha256Hex(payload),
    at: event.at,
    ...(event.actor === undefined ? {} : { actor: event.actor }),
  };
  return [...decisions.filter((other) => other.stepId !== stepId), entry];
}

function taken(state: RunState, signalId: string): Partial<RunState> {
  return {
    unread: state.unread.filter((signal) => signal.signalId !== signalId),
    received: state.received.includes(signalId) ? state.received : remember(state, signalId),
  };
}

function remember({ received }: RunState, signalId: string): readonly string[] {
  return [...received, signalId].slice(-RECEIVED_IDS);
}

/**
 * Every step that depends on the named ones starts again, with its items, and its waits are closed. One without a state
 * may be running, so its revision is incremented too: its later events are outdated.
 */
function sentBack(state: RunState, { seq, data }: RunEvent<'feedback_given'>): Partial<RunState> {
  const again = new Set(data.again);
  const steps = state.steps.withMutations((map) => {
    for (const key of state.steps.keys()) if (again.has(stepIdOf(key))) map.delete(key);
    for (const id of again) {
      map.set(id, { phase: 'again', seq, revision: (state.steps.get(id)?.revision ?? 1) + 1 });
    }
  });
  const remaining = state.feedback
    .map((entry) => ({ ...entry, steps: entry.steps.filter((id) => !again.has(id)) }))
    .filter((entry) => entry.steps.length > 0);
  return {
    steps,
    waits: state.waits.filter(({ execution }) => !again.has(execution.stepId)),
    inFlight: state.inFlight.filter(({ stepId }) => !again.has(stepId)),
    feedback: [...remaining, { seq, steps: data.again, text: data.feedback }],
    sentBack: [...state.sentBack, ...completed(state, data.undoable ?? [])],
  };
}

function completed({ steps }: RunState, keys: readonly string[]): Completed[] {
  return keys.flatMap((key) => {
    const step = steps.get(key);
    return step?.phase === 'done' ? [{ step: key, revision: step.revision, seq: step.seq }] : [];
  });
}

function registrationOf({ id: waitId, name, key, child }: Wait): ExternalRegistration | undefined {
  if (child) return { kind: 'child', waitId, ...child };
  return name === undefined ? undefined : { kind: 'event', waitId, name, key: key ?? '' };
}
