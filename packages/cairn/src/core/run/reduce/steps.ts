/** Step events. Older revisions never overwrite newer ones. */
import { withMark } from '../../plan/item-marks.ts';
import type { RecordedError, RunEvent, SettledType, StepRef } from '../events.ts';
import { cut, SUMMARY_CHARS } from '../records.ts';
import { type RunState, type StepOutcome, type StepState, stepKey } from '../state.ts';
import type { Reducer, Reducers } from './index.ts';
import { afterStep, afterUndone } from './suspicion.ts';

type StepEvent =
  | 'step_started'
  | 'step_retry_scheduled'
  | SettledType
  | 'effect_attempted'
  | 'effect_settled'
  | 'compensation_started'
  | 'step_compensated'
  | 'compensation_failed';

export const stepReducers: Reducers<StepEvent> = {
  step_started: (state, { seq, data }) => ({
    ...put(state, data, {
      phase: 'running',
      seq,
      attempt: data.attempt,
      revision: data.revision,
      startedAt: data.startedAt,
      polls: data.polls,
    }),
    ...(data.items === undefined
      ? {}
      : { itemMarks: withMark(state.itemMarks, { ...data, items: data.items }) }),
  }),
  step_retry_scheduled: (state, { seq, data }) =>
    put(state, data, {
      phase: 'retrying',
      seq,
      attempt: data.attempt,
      revision: data.revision,
      startedAt: data.startedAt,
      retryAt: data.retryAt,
      whenRoom: data.whenRoom,
      polls: data.polls,
    }),
  step_succeeded: settled('succeeded'),
  step_degraded: settled('degraded'),
  step_skipped: settled('skipped'),
  step_reused: settled('reused'),
  step_failed: settled('failed'),
  effect_attempted: (state, { data }) => {
    const { effectId, revision, capabilityId } = data;
    if (state.effects.some((open) => open.effectId === effectId)) return {};
    return { effects: [...state.effects, { effectId, step: stepKey(data), revision, capabilityId }] };
  },
  effect_settled: (state, { data }) => {
    // An effect that may be repeated is no longer in doubt: the next row is.
    const isKnown = data.outcome === 'recorded' || data.outcome === 'failed' || data.by === 'person';
    if (!isKnown) return {};
    return { effects: state.effects.filter(({ effectId }) => effectId !== data.effectId) };
  },
  compensation_started: (state, { data }) => ({
    compensating: true,
    ...(state.error === undefined && data.error !== undefined ? { error: data.error } : {}),
  }),
  step_compensated: (state, event) => ({
    ...afterUndone(state),
    compensationLog: [
      ...state.compensationLog,
      { stepId: stepKey(event.data), revision: event.data.revision, outcome: 'compensated', at: event.at },
    ],
  }),
  compensation_failed: (state, event) => ({
    ...afterUndone(state),
    compensationLog: [
      ...state.compensationLog,
      {
        stepId: stepKey(event.data),
        revision: event.data.revision,
        outcome: 'failed',
        at: event.at,
        error: withoutTrace(event.data.error),
      },
    ],
  }),
};

function settled<T extends SettledType>(outcome: StepOutcome): Reducer<T> {
  return (state: RunState, anyEvent: RunEvent<T>) => {
    const event = anyEvent as RunEvent<SettledType>;
    const { seq, data } = event;
    const key = stepKey(data);
    const known = event.type === 'step_reused' && event.data.skipped ? 'skipped' : outcome;
    // Too late to change the state; only its checkpoint is stored, in the chain of checkpoints.
    if (isOutdated(state, data)) return event.type === 'step_failed' ? {} : { checkpointHead: seq };
    return {
      ...put(state, data, { phase: 'done', seq, revision: data.revision, outcome: known }),
      ...afterStep(state, key),
      inFlight:
        state.inFlight.length === 0 ? state.inFlight : state.inFlight.filter((ref) => stepKey(ref) !== key),
      // A failed step leaves no checkpoint, because nothing may be resumed from it. It ends the run; the failure of an item is
      // judged by its step.
      ...(event.type === 'step_failed'
        ? data.itemKey === undefined && { error: state.error ?? event.data.error }
        : { checkpointHead: seq, interruptions: 0 }),
    };
  };
}

/** True if a person has sent the step and its items back since. */
export function isOutdated(
  { steps }: { readonly steps: Pick<RunState['steps'], 'get'> },
  ref: StepRef,
): boolean {
  const newest = Math.max(steps.get(ref.stepId)?.revision ?? 0, steps.get(stepKey(ref))?.revision ?? 0);
  return ref.revision < newest;
}

/**
 * Sets the new state of the step, unless it belongs to an old revision.
 *
 * @throws Error if this revision has already ended
 */
export function put(state: RunState, ref: StepRef, step: StepState): Partial<RunState> {
  if (isOutdated(state, ref)) return {};
  const key = stepKey(ref);
  const before = state.steps.get(key);
  if (before?.phase === 'done' && before.revision === step.revision) {
    throw new Error(`run ${state.id}: step '${key}' revision ${step.revision} has already ended`);
  }
  return { steps: state.steps.set(key, step), currentStep: key };
}

/** The short form in the snapshot, which has up to thousands of steps; the journal has the whole error. */
function withoutTrace({ trace: _, message, ...error }: RecordedError): RecordedError {
  return { ...error, message: cut(message, SUMMARY_CHARS) };
}
