/**
 * Start of a run's oldest open question, as a total function of the fold, by which the inbox finds the run. Defines
 * which questions count as open.
 *
 * Must not: know the clock. An expired question counts until its expiry is recorded.
 */
import type { Wait } from './events.ts';
import { isOver, type RunState } from './state.ts';

/**
 * Time the oldest open question was opened, epoch ms; undefined: none. An ended run has no questions except effects in
 * doubt: since its end, until the ledger knows each outcome, which is not folded. Then the stored value is removed
 * (operations/inbox/remove-from-inbox.ts), and `check` asks the ledger whether it may be absent.
 */
export function askingSince(state: RunState): number | undefined {
  if (isOver(state)) return endedInDoubt(state) ? (state.completedAt ?? state.updatedAt) : undefined;
  const times = questionsOf(state).map(({ openedAt }) => openedAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Waits that a person can answer. None of a run that is about to end: every answer would be refused. */
export function questionsOf({ waits, cancellation, compensating }: RunState): readonly Wait[] {
  return cancellation || compensating ? [] : waits.filter(({ kind }) => kind === 'approval');
}

/** Returns true if the run ended with an effect whose outcome is not in its journal. The ledger may have it since. */
export function endedInDoubt(state: RunState): boolean {
  return isOver(state) && state.effects.length > 0;
}
