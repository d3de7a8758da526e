/** How waits, signals and feedback move a run. */
import type { RunState } from '../state.ts';
import type { Reducers } from './index.ts';

type WaitEvent = 'wait_opened' | 'wait_resolved' | 'wait_expired' | 'signal_received' | 'feedback_given';

export const waitReducers: Reducers<WaitEvent> = {
  wait_opened: (state, { seq, data: { wait } }) => ({
    waits: [...state.waits, wait],
    steps: state.steps.set(wait.stepId, { phase: 'waiting', seq, revision: wait.revision }),
    currentStep: wait.stepId,
  }),
  wait_resolved: (state, { data }) => ({ waits: without(state, data.waitId) }),
  wait_expired: (state, { data }) => ({ waits: without(state, data.waitId) }),
  signal_received: (state, { at, data }) => ({ inbox: [...state.inbox, { ...data, at }] }),
  feedback_given: (state, { data }) => ({ steps: state.steps.deleteAll(data.steps) }),
};

function without(state: RunState, waitId: string): RunState['waits'] {
  const rest = state.waits.filter((wait) => wait.id !== waitId);
  if (rest.length === state.waits.length) throw new Error(`run ${state.id} has no open wait '${waitId}'`);
  return rest;
}
