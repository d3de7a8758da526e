/** Start and end of a finding about a run that has not ended and makes no progress. Pure. */
import { isOver, type RunState } from './run/state.ts';

/** Consecutive failed dispatches after which a run is stuck. With the back-off between them this takes about two minutes; most outages are shorter. */
export const STUCK_AFTER = 10;
/**
 * Consecutive dispatches that failed to evaluate the workflow's policy. With the pauses between them this takes about four
 * minutes.
 */
const UNASKED_AFTER = 4;
/** Shortest back-off, ms, that identifies a failed policy evaluation: other failures have a shorter one after so few attempts. */
const UNASKED_REST_MS = 2 * 60_000;

/**
 * `request`: the store refuses this run's documents; `installation`: it refuses the functions, or the database does not
 * exist; `dispatches`: {@link STUCK_AFTER} consecutive dispatches failed, or
 * {@link UNASKED_AFTER} could not ask the policy of the workflow.
 */
export const FINDING_REASONS = ['request', 'installation', 'dispatches'] as const;
export type FindingReason = (typeof FINDING_REASONS)[number];

/** Both are codes of {@link PROBLEMS}, which has the advice. */
type FindingCode = 'RUN_UNWRITABLE' | 'RUN_STUCK';

export function findingCode(reason: FindingReason): FindingCode {
  return reason === 'dispatches' ? 'RUN_STUCK' : 'RUN_UNWRITABLE';
}

export function isStuck({
  failures,
  policyDue,
  dueAt = 0,
  updatedAt,
  compensating,
}: Pick<RunState, 'failures' | 'policyDue' | 'dueAt' | 'updatedAt' | 'compensating'>): boolean {
  const times = failures?.times ?? 0;
  // The policy is not evaluated for compensations.
  const isUnasked = policyDue && !compensating && dueAt - updatedAt >= UNASKED_REST_MS;
  return times >= (isUnasked ? UNASKED_AFTER : STUCK_AFTER);
}

/**
 * True if the finding is current. A run that cannot be written still has `head` events, or its dispatches keep failing. A claim resets
 * the due time by which {@link isStuck} recognises a failed policy evaluation, so `dispatches` is judged by the count alone.
 */
export function isFindingCurrent(
  { reason, head }: { readonly reason: FindingReason; readonly head: number },
  state: RunState,
): boolean {
  if (isOver(state)) return false;
  if (reason === 'dispatches') return (state.failures?.times ?? 0) >= UNASKED_AFTER;
  return isStuck(state) || state.head === head;
}
