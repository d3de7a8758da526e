/**
 * What becomes of a run whose drive died (DESIGN section 9): one verdict, checks in the order the design fixes.
 * A newer `schemaVersion` never gets here: decoding refuses it and the run is left alone.
 */
import type { RecordedError } from '../run/events.ts';
import { type Completed, type RunState, stepsInFlight } from '../run/state.ts';
import { compensationsDue } from './compensation.ts';

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
  /** What becomes of a step that must not run twice and was caught mid-flight. */
  readonly onDoubt: 'fail' | 'ask';
}

export type RecoveryVerdict =
  | {
      readonly kind: 'park';
      readonly status: 'waiting_external' | 'awaiting_approval';
      /** Absent: for its own open waits. */
      readonly reason?: string;
    }
  | { readonly kind: 'fail'; readonly error: RecordedError }
  /** It is to fail, and a drive must undo first what it did. */
  | { readonly kind: 'undo'; readonly error: RecordedError; readonly steps: readonly string[] }
  /** A person must say what becomes of these steps. */
  | { readonly kind: 'ask'; readonly steps: readonly string[] }
  | { readonly kind: 'resume' }
  /** Its drive did not live to end it, as somebody had asked. */
  | { readonly kind: 'cancel' };

/** The verdict over an `interrupted` run. */
export function recoveryVerdict(state: RunState, deployed: Deployed): RecoveryVerdict {
  const toUndo = compensationsDue(state, deployed.isCompensable);
  // Before everything else: a cancel that was acknowledged must not wait for a deployment, nor end as a failure.
  if (state.cancellation) return { kind: toUndo.length > 0 && !isPoison(state) ? 'resume' : 'cancel' };
  if (!deployed.available) {
    return { kind: 'park', status: 'waiting_external', reason: 'PLAN_VERSION_UNAVAILABLE' };
  }
  if (isPoison(state)) {
    const message = `the run lost its worker ${state.interruptions} times without getting any further`;
    const error = { code: 'RUN_RESUME_FAILED', message, retryable: false, ...at(state) };
    // If it was its compensations that killed the worker, they are not begun again.
    return state.compensating ? { kind: 'fail', error } : failing(error, toUndo);
  }
  // It was failing already: all that is left is to undo, and to end.
  if (state.error) return { kind: 'resume' };
  if (state.waits.some((wait) => wait.kind === 'approval'))
    return { kind: 'park', status: 'awaiting_approval' };
  const steps = stepsInDoubt(state, deployed);
  if (steps.length > 0) return doubtVerdict(state, deployed, steps);
  if (state.checkpointHead === 0) {
    const message = 'the run lost its worker before it left any checkpoint';
    return { kind: 'fail', error: { code: 'RUN_ORPHANED', message, retryable: true } };
  }
  return { kind: 'resume' };
}

/** Steps that must not run twice and were caught mid-flight (DESIGN 2.9), by their keys. */
export function stepsInDoubt(state: RunState, { isIdempotent }: Pick<Deployed, 'isIdempotent'>): string[] {
  return stepsInFlight(state).filter((key) => !isIdempotent(key));
}

/** What becomes of a run with steps in doubt. */
export function doubtVerdict(
  state: RunState,
  { onDoubt, isCompensable }: Pick<Deployed, 'onDoubt' | 'isCompensable'>,
  steps: readonly string[],
): Extract<RecoveryVerdict, { kind: 'fail' | 'undo' | 'ask' }> {
  if (onDoubt === 'ask') return { kind: 'ask', steps };
  const [stepId = ''] = steps;
  const message = `step '${stepId}' was under way when its worker died, and is not idempotent: it may have acted`;
  const error = { code: 'RUN_ORPHANED', message, stepId, retryable: false };
  return failing(error, compensationsDue(state, isCompensable));
}

function failing(
  error: RecordedError,
  toUndo: readonly Completed[],
): Extract<RecoveryVerdict, { kind: 'fail' | 'undo' }> {
  return toUndo.length === 0
    ? { kind: 'fail', error }
    : { kind: 'undo', error, steps: toUndo.map(({ step }) => step) };
}

function isPoison({ interruptions }: RunState): boolean {
  return interruptions >= MAX_INTERRUPTIONS;
}

function at(state: RunState): { stepId?: string } {
  return state.currentStep === undefined ? {} : { stepId: state.currentStep };
}
