/** Start and end of a finding about a run that has not ended and makes no progress. Pure. */
import { isOver, type RunState } from './run/state.ts';

/** Dispatches in a row that threw and let go of the run: with the back-off between them about two minutes, which most outages do not last. */
export const STUCK_AFTER = 10;
/** Dispatches in a row that could not ask the policy of the workflow: with the time between them about four minutes. */
const UNASKED_AFTER = 4;
/** Only a policy that could not be asked puts a run off for so long after so few failures. */
const UNASKED_REST_MS = 2 * 60_000;

/**
 * `request`: the store refuses this run's documents; `installation`: it refuses the functions, or the database does not
 * exist; `dispatches`: {@link STUCK_AFTER} consecutive dispatches failed, or
 * {@link UNASKED_AFTER} could not ask the policy of the workflow.
 */
export const FINDING_REASONS = ['request', 'installation', 'dispatches'] as const;
export type FindingReason = (typeof FINDING_REASONS)[number];

/** Both are codes of {@link PROBLEMS}, which says what to do. */
export type FindingCode = 'RUN_UNWRITABLE' | 'RUN_STUCK';

export function findingCode(reason: FindingReason): FindingCode {
  return reason === 'dispatches' ? 'RUN_STUCK' : 'RUN_UNWRITABLE';
}

export function isStuck({
  failures,
  policyDue,
  dueAt = 0,
  updatedAt,
}: Pick<RunState, 'failures' | 'policyDue' | 'dueAt' | 'updatedAt'>): boolean {
  const times = failures?.times ?? 0;
  const isUnasked = policyDue && dueAt - updatedAt >= UNASKED_REST_MS;
  return times >= (isUnasked ? UNASKED_AFTER : STUCK_AFTER);
}

/**
 * A run that could not be written has the same events until it is written again (`head`: how many there were), or takes nothing but
 * claims and releases. A claim ends the rest by which a run is known that could not ask its policy.
 */
export function stillStands(
  { reason, head }: { readonly reason: FindingReason; readonly head: number },
  state: RunState,
): boolean {
  if (isOver(state)) return false;
  if (reason === 'dispatches') return (state.failures?.times ?? 0) >= UNASKED_AFTER;
  return isStuck(state) || state.head === head;
}
