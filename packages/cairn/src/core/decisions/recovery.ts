/**
 * Decision about a run whose worker died: it ends if ending.ts says so; otherwise it is blocked on deployment, asked
 * about, or resumed. A newer `schemaVersion` never gets here: decoding refuses it and the run is left alone.
 *
 * Must not: define its own precedence.
 */
import type { RecordedError } from '../run/events.ts';
import type { RunState } from '../run/state.ts';
import { leftUndone } from './compensation.ts';
import type { DeployedPlan } from './deployed-plan.ts';
import { type Continues, endingDecision, type FailedEnding } from './ending.ts';
import { endingFactsOf } from './ending-facts.ts';

export type RecoveryDecision =
  | {
      readonly kind: 'suspend';
      readonly status: 'waiting_external' | 'awaiting_approval';
      /** Absent if the run waits for its own open waits. */
      readonly reason?: string;
    }
  | { readonly kind: 'fail'; readonly error: RecordedError }
  /** The run must fail after a dispatch has compensated it. */
  | { readonly kind: 'undo'; readonly error: RecordedError; readonly steps: readonly string[] }
  /** A person must decide about these steps. */
  | { readonly kind: 'ask'; readonly steps: readonly string[] }
  | { readonly kind: 'resume' }
  /** The run must fail after a dispatch has waited for its children. */
  | { readonly kind: 'fail_after_children'; readonly error: RecordedError }
  /** The worker died before it carried out a requested cancellation. */
  | { readonly kind: 'cancel'; readonly notUndone: readonly string[] };

/** Decision about an `interrupted` run, or one that was released with steps running. */
export function recoveryDecision(state: RunState, deployed: DeployedPlan): RecoveryDecision {
  const ending = endingDecision(endingFactsOf(state, deployed));
  switch (ending.kind) {
    case 'continue':
      return continuing(ending, deployed);
    case 'cancelled':
      return { kind: 'cancel', notUndone: leftUndone(state, deployed.isCompensable) };
    case 'failed':
      return isKnown(ending) ? { kind: 'resume' } : { kind: 'fail', error: ending.error };
    case 'undo_first': {
      const { end } = ending;
      if (end.kind === 'cancelled' || isKnown(end)) return { kind: 'resume' };
      const steps = leftUndone(state, deployed.isCompensable);
      return { kind: 'undo', error: end.error, steps };
    }
    case 'completed':
      return { kind: 'resume' };
  }
}

function continuing(ending: Continues, { changed }: DeployedPlan): RecoveryDecision {
  switch (ending.because) {
    case 'without_plan':
      return {
        kind: 'suspend',
        status: 'waiting_external',
        reason: changed ? 'PLAN_CHANGED' : 'PLAN_VERSION_UNAVAILABLE',
      };
    case 'question_open':
      return { kind: 'suspend', status: 'awaiting_approval' };
    case 'in_doubt':
      return { kind: 'ask', steps: ending.steps };
    case 'children_open': {
      const { end } = ending;
      if (end.kind === 'cancelled' || isKnown(end)) return { kind: 'resume' };
      return { kind: 'fail_after_children', error: end.error };
    }
    default:
      return { kind: 'resume' };
  }
}

/** The journal already has the failure: the next dispatch compensates and ends the run. */
function isKnown({ because }: FailedEnding): boolean {
  return because === 'failure';
}
