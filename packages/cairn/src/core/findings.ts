/** Start and end of a finding about a run that has not ended and makes no progress. Pure. */
import { isOver, type RunState } from './run/state.ts';

/** Dispatches in a row that threw and let go of the run: with the back-off between them about two minutes, which most outages do not last. */
export const STUCK_AFTER = 10;

/**
 * `request`: the store refuses this run's documents; `installation`: it refuses the functions, or the database does not
 * exist; `dispatches`: {@link STUCK_AFTER} consecutive dispatches failed.
 */
export const FINDING_REASONS = ['request', 'installation', 'dispatches'] as const;
export type FindingReason = (typeof FINDING_REASONS)[number];

/** Both are codes of {@link PROBLEMS}, which says what to do. */
export type FindingCode = 'RUN_UNWRITABLE' | 'RUN_STUCK';

export function findingCode(reason: FindingReason): FindingCode {
  return reason === 'dispatches' ? 'RUN_STUCK' : 'RUN_UNWRITABLE';
}

export function isStuck({ failures }: Pick<RunState, 'failures'>): boolean {
  return (failures?.times ?? 0) >= STUCK_AFTER;
}

/**
 * A run that could not be written has the same events until it is written again (`head`: how many there were), or takes nothing but
 * claims and releases.
 */
export function stillStands(
  { reason, head }: { readonly reason: FindingReason; readonly head: number },
  state: RunState,
): boolean {
  if (isOver(state)) return false;
  return isStuck(state) || (reason !== 'dispatches' && state.head === head);
}
