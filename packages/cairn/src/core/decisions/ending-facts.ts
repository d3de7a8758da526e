/**
 * Derives the facts for ending.ts from the journal of a run without a dispatch. A dispatch knows more and provides its own facts
 * (dispatch.ts).
 */
import { type RunState, stepsInFlight, UNDOING, waitsOutChildren } from '../run/state.ts';
import { compensationsDue } from './compensation.ts';
import type { DeployedPlan } from './deployed-plan.ts';
import type { EndingFacts } from './ending.ts';

/**
 * Deaths of the run's own workers at one step after which that step counts as their cause. The same number at several steps, with
 * fewer than QUIET_BODIES (reduce/suspicion.ts) bodies ended after each, means that the run kills its workers with a delay. With
 * the two shared dispatches that a run may kill before it stays alone, that is five workers.
 */
export const MAX_DEATHS_ALONE = 3;

/**
 * Consecutive shutdowns that interrupt the same body alone, each after more than a minute. They affect no other run, and five
 * deployments can cause as many; but a body that never finishes has to be reported.
 */
export const MAX_CUT_OFF = 10;

export function endingFactsOf(state: RunState, deployed: DeployedPlan): EndingFacts {
  // An earlier death counts only until a worker holds the run again and may make progress.
  const died = state.status === 'interrupted';
  return {
    leasedByAnother: state.lease !== undefined,
    cancellation: state.cancellation,
    undoDue: compensationsDue(state, deployed.isCompensable).length > 0,
    compensating: state.compensating,
    isDeployed: deployed.available,
    lostWorkers: lostWorkers(state, died),
    failure: state.error,
    questionOpen: died && state.waits.some(({ kind }) => kind === 'approval'),
    inDoubt: deployed.available ? withoutNewAttempt(state, deployed) : [],
    onDoubt: deployed.onDoubt,
    neverSaved: died && state.checkpointHead === 0,
    childrenOpen: waitsOutChildren(state),
    allEnded: false,
  };
}

/** Keys of steps with `idempotent: false` that were interrupted. */
export function stepsInDoubt(
  state: RunState,
  { isIdempotent }: Pick<DeployedPlan, 'isIdempotent'>,
): string[] {
  return stepsInFlight(state).filter((key) => !isIdempotent(key));
}

/** Keys of interrupted steps with `idempotent: false` and `newAttempt: true` that have attempts left. */
export function stepsToAttemptAnew(state: RunState, deployed: DeployedPlan): string[] {
  return stepsInDoubt(state, deployed).filter((key) => {
    const step = state.steps.get(key);
    return step?.phase === 'running' && deployed.allowsNewAttempt?.(key, step.attempt - (step.polls ?? 0));
  });
}

function withoutNewAttempt(state: RunState, deployed: DeployedPlan): string[] {
  const attemptedAnew = new Set(stepsToAttemptAnew(state, deployed));
  return stepsInDoubt(state, deployed).filter((key) => !attemptedAnew.has(key));
}

/** During compensation, only a new death and deaths caused by compensations count. */
function lostWorkers({ suspect, compensating }: RunState, died: boolean): EndingFacts['lostWorkers'] {
  const guilty = suspect?.deaths.find(({ times }) => times >= MAX_DEATHS_ALONE);
  const last = suspect?.inARow;
  const cutOff = suspect?.cutOff;
  const several = last && last.times >= MAX_DEATHS_ALONE ? last : undefined;
  const found = guilty ?? several ?? (cutOff && cutOff.times >= MAX_CUT_OFF ? cutOff : undefined);
  if (!found || (compensating && !died && found.step !== UNDOING)) return undefined;
  const isSameStep = found !== several;
  return { times: found.times, at: found.step, isSameStep, shutDown: found === cutOff ? true : undefined };
}
