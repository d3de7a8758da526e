/**
 * What becomes of a run whose drive died (DESIGN section 9): one verdict, checks in the order the design fixes.
 * A newer `schemaVersion` never gets here: decoding refuses it and the run is left alone.
 */
import type { RecordedError } from '../run/events.ts';
import { type RunState, stepsInFlight } from '../run/state.ts';

/** So many interruptions without a checkpoint between them mean that the run kills its workers. */
export const MAX_INTERRUPTIONS = 5;

/** What the deployed definition says of the run. */
export interface Deployed {
  /** False if the plan version the run is pinned to is not deployed. */
  readonly available: boolean;
  /** Whether a step may safely run again; only asked while `available`. */
  isIdempotent(stepKey: string): boolean;
  /** Whether it says how to undo what has this key; of a plan that is not deployed nothing can be undone. */
  isCompensable(stepKey: string): boolean;
}

export type RecoveryVerdict =
  | {
      readonly kind: 'park';
      readonly status: 'waiting_external' | 'awaiting_approval';
      readonly reason: string;
    }
  | { readonly kind: 'fail'; readonly error: RecordedError }
  | { readonly kind: 'resume' }
  /** Its drive did not live to end it, as somebody had asked. */
  | { readonly kind: 'cancel' };

/** The verdict over an `interrupted` run. */
export function recoveryVerdict(state: RunState, deployed: Deployed): RecoveryVerdict {
  // Before everything else: a cancel that was acknowledged must not wait for a deployment, nor end as a failure.
  if (state.cancellation) return { kind: 'cancel' };
  if (!deployed.available) {
    return { kind: 'park', status: 'waiting_external', reason: 'PLAN_VERSION_UNAVAILABLE' };
  }
  if (state.interruptions >= MAX_INTERRUPTIONS) {
    const message = `the run lost its worker ${state.interruptions} times without getting any further`;
    return { kind: 'fail', error: { code: 'RUN_RESUME_FAILED', message, retryable: false, ...at(state) } };
  }
  if (state.waits.some((wait) => wait.kind === 'approval')) {
    return { kind: 'park', status: 'awaiting_approval', reason: 'approval undecided' };
  }
  const doubt = stepInDoubt(state, deployed);
  if (doubt) return { kind: 'fail', error: doubt };
  if (state.checkpointHead === 0) {
    const message = 'the run lost its worker before it left any checkpoint';
    return { kind: 'fail', error: { code: 'RUN_ORPHANED', message, retryable: true } };
  }
  return { kind: 'resume' };
}

/**
 * The error of a run in which a step that must not run twice was caught mid-flight (DESIGN 2.9); undefined if every
 * step in flight may run again.
 */
export function stepInDoubt(state: RunState, deployed: Deployed): RecordedError | undefined {
  const stepId = stepsInFlight(state).find((key) => !deployed.isIdempotent(key));
  if (stepId === undefined) return undefined;
  const message = `step '${stepId}' was under way when its worker died, and is not idempotent: it may have acted`;
  return { code: 'RUN_ORPHANED', message, stepId, retryable: false };
}

function at(state: RunState): { stepId?: string } {
  return state.currentStep === undefined ? {} : { stepId: state.currentStep };
}
