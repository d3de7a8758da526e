/** Counts the executions of a run by state. Pure. */
import { type RunState, type StepOutcome, type StepState, SUCCESS_OUTCOMES } from '../run/state.ts';

export type StepCounts = {
  readonly [where in 'begun' | StepOutcome | Exclude<StepState['phase'], 'done' | 'again'>]: number;
} & { readonly again?: number };

export function stepCounts(steps: RunState['steps']): StepCounts {
  const counts: Record<string, number> = {
    begun: steps.size,
    running: 0,
    retrying: 0,
    waiting: 0,
    failed: 0,
  };
  for (const outcome of SUCCESS_OUTCOMES) counts[outcome] = 0;
  for (const step of steps.values()) {
    const where = step.phase === 'done' ? step.outcome : step.phase;
    counts[where] = (counts[where] ?? 0) + 1;
  }
  return counts as StepCounts;
}
