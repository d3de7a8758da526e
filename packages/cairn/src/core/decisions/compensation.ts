/** Decides which steps of a failed or cancelled run must still be compensated, in order. */
import type { ReleaseError } from '../run/events.ts';
import type { Completed, RunState, StepOutcome } from '../run/state.ts';

/** Maximum of sent-back executions that wait for compensation, because the snapshot stores them. */
export const MAX_SENT_BACK = 1_000;

/**
 * Completed executions that can be compensated and have not been, newest completion first, including earlier revisions. A
 * compensation that failed permanently is in the log and is not repeated.
 *
 * @param isCompensable whether the definition has a compensation for this key
 */
export function compensationsDue(state: RunState, isCompensable: (stepKey: string) => boolean): Completed[] {
  const ended = endedIn(state);
  return [...state.sentBack, ...completedSteps(state)]
    .filter(({ step, revision }) => !ended.has(nameOf(step, revision)) && isCompensable(step))
    .sort((a, b) => b.seq - a.seq);
}

/** Failed attempts of earlier dispatches at this compensation. */
export function failedAttempts(
  { failures }: Pick<RunState, 'failures'>,
  { step, revision }: Pick<Completed, 'step' | 'revision'>,
): number {
  const undo = failures?.error.undo;
  return undo?.step === step && undo.revision === revision ? undo.attempts : 0;
}

/**
 * The error of a release that follows `state`. Failed attempts at a compensation that has not ended are kept, even if this dispatch
 * did not repeat it: otherwise stops and errors of dispatches would grant it more attempts.
 */
export function releaseError(
  state: Pick<RunState, 'failures' | 'compensationLog'>,
  error: ReleaseError | undefined,
): ReleaseError | undefined {
  const earlier = state.failures?.error;
  const undo = earlier?.undo;
  if (!undo || error?.undo) return error;
  if (endedIn(state).has(nameOf(undo.step, undo.revision))) return error;
  return error ? { ...error, undo } : earlier;
}

/** Names of the executions whose compensation has ended, well or not. */
function endedIn({ compensationLog }: Pick<RunState, 'compensationLog'>): ReadonlySet<string> {
  return new Set(compensationLog.map(({ stepId, revision }) => nameOf(stepId, revision)));
}

/** Keys of the executions of {@link compensationsDue}, in the same order. */
export function leftUndone(state: RunState, isCompensable: (stepKey: string) => boolean): string[] {
  return compensationsDue(state, isCompensable).map(({ step }) => step);
}

/** Keys of the given steps whose newest revision has a compensation: sending them back hides it. */
export function undoableOf(
  state: RunState,
  isCompensable: (stepKey: string) => boolean,
  isSentBack: (stepKey: string) => boolean,
): string[] {
  return completedSteps(state)
    .map(({ step }) => step)
    .filter((step) => isSentBack(step) && isCompensable(step));
}

/** A successor is responsible for the steps that it reused. */
const DID_WORK: ReadonlySet<StepOutcome> = new Set<StepOutcome>(['succeeded', 'degraded', 'reused']);

function completedSteps({ steps }: RunState): Completed[] {
  const completed: Completed[] = [];
  for (const [key, step] of steps) {
    if (step.phase !== 'done' || !DID_WORK.has(step.outcome)) continue;
    completed.push({ step: key, revision: step.revision, seq: step.seq });
  }
  return completed;
}

function nameOf(step: string, revision: number): string {
  return `${step}@${revision}`;
}
