/** Which steps of a run that ends badly are still to be undone, and in which order (DESIGN 5.10). */
import type { RunState } from '../run/state.ts';

/**
 * Keys of the steps (and items) that did their work, can be undone and have not been: the newest completion first. One
 * whose compensation failed for good is not tried again, since it is in the log.
 *
 * @param isCompensable whether the definition says how to undo what has this key
 */
export function compensationsDue(
  { steps, compensationLog }: RunState,
  isCompensable: (stepKey: string) => boolean,
): string[] {
  const tried = new Set(compensationLog.map(({ stepId }) => stepId));
  const due: { readonly key: string; readonly seq: number }[] = [];
  for (const [key, step] of steps) {
    if (step.phase !== 'done' || (step.outcome !== 'succeeded' && step.outcome !== 'degraded')) continue;
    if (!tried.has(key) && isCompensable(key)) due.push({ key, seq: step.seq });
  }
  return due.sort((a, b) => b.seq - a.seq).map(({ key }) => key);
}
