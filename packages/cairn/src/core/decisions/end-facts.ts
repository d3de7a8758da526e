/**
 * What the journal of a run that no drive moves says about its end (ending.ts). A drive knows more than its journal and says
 * it itself (conclude.ts).
 */
import { type RunState, stepsInFlight } from '../run/state.ts';
import { compensationsDue } from './compensation.ts';
import type { Deployed } from './deployed.ts';
import type { EndFacts } from './ending.ts';

/** So many interruptions without a checkpoint between them mean that the run kills its workers. */
export const MAX_INTERRUPTIONS = 5;

export function endFactsOf(state: RunState, deployed: Deployed): EndFacts {
  // What an earlier death left counts until the run is set going again: then a drive has it, and may get further.
  const died = state.status === 'interrupted';
  const { interruptions: times, currentStep: at } = state;
  return {
    drivenByAnother: state.lease !== undefined,
    cancellation: state.cancellation,
    undoDue: compensationsDue(state, deployed.isCompensable).length > 0,
    compensating: state.compensating,
    isDeployed: deployed.available,
    lostWorkers: died && times >= MAX_INTERRUPTIONS ? { times, at } : undefined,
    failure: state.error,
    questionOpen: died && state.waits.some(({ kind }) => kind === 'approval'),
    inDoubt: deployed.available ? stepsInDoubt(state, deployed) : [],
    onDoubt: deployed.onDoubt,
    neverSaved: died && state.checkpointHead === 0,
    allEnded: false,
  };
}

/** Steps that must not run twice and were caught mid-flight (DESIGN 2.9), by their keys. */
export function stepsInDoubt(state: RunState, { isIdempotent }: Pick<Deployed, 'isIdempotent'>): string[] {
  return stepsInFlight(state).filter((key) => !isIdempotent(key));
}
