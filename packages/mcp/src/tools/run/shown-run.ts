/** A run as the tools show it. Pure. */
import type { Answer } from 'cairn/api/calls';

export function shortRun(run: Answer<'RunSummary'>) {
  const { id, type, planVersion, status, stopKind, waitsFor, currentStep, blocked, error, threadId, tags } =
    run;
  const { supersededBy, createdAt, updatedAt, completedAt } = run;
  const failure = error && { code: error.code, message: error.message, stepId: error.stepId };
  const what = { id, type, planVersion, status, stopKind, waitsFor, currentStep, blocked, error: failure };
  return { ...what, threadId, tags, supersededBy, createdAt, updatedAt, completedAt };
}

/** The run without internal data of the engine, and without lists that are long in a long run. */
export function wholeRun(run: Answer<'Run'>) {
  const { running, steps, parent, source, suspension, cancellation, decisions, feedback } = run;
  const { inputRef, resultRef, error, finding, blocked, parked, head } = run;
  return {
    ...shortRun(run),
    ...{ steps, running, blocked, parked, suspension, cancellation, decisions, feedback, parent, source },
    ...{ error, finding, inputRef, resultRef, head },
  };
}
