/** How step events move the steps of a run. Old revisions never overwrite newer ones. */
import type { RunEvent, SettledType } from '../events.ts';
import { type RunState, type StepOutcome, type StepState, stepKey } from '../state.ts';
import type { Reducer, Reducers } from './index.ts';

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
  step_started: (state, { seq, data }) =>
    put(state, stepKey(data), {
      phase: 'running',
      seq,
      attempt: data.attempt,
      revision: data.revision,
      startedAt: data.startedAt,
    }),
  step_retry_scheduled: (state, { seq, data }) =>
    put(state, stepKey(data), {
      phase: 'retrying',
      seq,
      attempt: data.attempt,
      revision: data.revision,
      startedAt: data.startedAt,
      retryAt: data.retryAt,
    }),
  step_succeeded: settled('succeeded'),
  step_degraded: settled('degraded'),
  step_skipped: settled('skipped'),
  step_reused: settled('reused'),
  step_failed: settled('failed'),
  effect_attempted: () => ({}),
  effect_settled: () => ({}),
  compensation_started: (state, { data }) => ({
    compensating: true,
    ...(state.error === undefined && data.error !== undefined ? { error: data.error } : {}),
  }),
  step_compensated: (state, event) => ({
    compensationLog: [
      ...state.compensationLog,
      { stepId: stepKey(event.data), outcome: 'compensated', at: event.at },
    ],
  }),
  compensation_failed: (state, event) => ({
    compensationLog: [
      ...state.compensationLog,
      { stepId: stepKey(event.data), outcome: 'failed', at: event.at, error: event.data.error },
    ],
  }),
};

function settled<T extends SettledType>(outcome: StepOutcome): Reducer<T> {
  return (state: RunState, anyEvent: RunEvent<T>) => {
    const event = anyEvent as RunEvent<SettledType>;
    const { seq, data } = event;
    const key = stepKey(data);
    return {
      ...put(state, key, { phase: 'done', seq, revision: data.revision, outcome }),
      inFlight:
        state.inFlight.length === 0 ? state.inFlight : state.inFlight.filter((ref) => stepKey(ref) !== key),
      // A failed step leaves no checkpoint: nothing may ever be resumed from it. It will end the run; what the
      // failure of an item means is for its step to say.
      ...(event.type === 'step_failed'
        ? data.itemKey === undefined && { error: state.error ?? event.data.error }
        : { checkpointHead: seq, interruptions: 0 }),
    };
  };
}

function put(state: RunState, key: string, step: StepState): Partial<RunState> {
  const before = state.steps.get(key);
  if (before && before.revision > step.revision) return {};
  if (before?.phase === 'done' && before.revision === step.revision) {
    throw new Error(`run ${state.id}: step '${key}' revision ${step.revision} has already ended`);
  }
  return { steps: state.steps.set(key, step), currentStep: key };
}
