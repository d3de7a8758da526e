/**
 * Adds the bodies that the run names as running to the steps. Most bodies record no event before they end, so the events
 * alone would show them as not started. Pure.
 */
import type { GraphStepState, Run } from './events.ts';

/** The same map if nothing is added. Events that are newer than the answer take precedence. */
export function withRunning(
  steps: ReadonlyMap<string, GraphStepState>,
  running: Run['running'] = [],
): ReadonlyMap<string, GraphStepState> {
  const begun = running.filter((body) => !body.undoes && isNews(steps.get(body.step), body));
  if (begun.length === 0) return steps;
  const all = new Map(steps);
  for (const { step: key, revision, attempt, since: startedAt } of begun)
    all.set(key, { key, phase: 'running', seq: steps.get(key)?.seq ?? 1, revision, attempt, startedAt });
  return all;
}

function isNews(
  known: GraphStepState | undefined,
  { revision, attempt }: NonNullable<Run['running']>[number],
): boolean {
  if (!known || known.revision < revision) return true;
  if (known.revision > revision) return false;
  switch (known.phase) {
    case 'again':
      return true;
    case 'running':
    case 'retrying':
      return known.attempt < attempt;
    default:
      return false;
  }
}
