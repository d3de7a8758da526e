/**
 * Since when a run asks a person something, as a total function of the fold: by it the inbox finds the run. Owns what counts
 * as a question that is open; how one is put and answered is not known here.
 *
 * Must not: know of the clock. A question whose time is over counts until somebody has written that down.
 */
import type { Wait } from './events.ts';
import { isOver, type RunState } from './state.ts';

/**
 * When the oldest open question was opened, epoch ms; undefined: it asks nobody. A run that has ended asks nothing, but
 * for what became of an outside action that it left in doubt: since its end, and until the ledger knows of each, which is not
 * folded. Then what is stored is taken away (operations/inbox/let-go.ts), and `check` asks the ledger whether it may be gone.
 */
export function askingSince(state: RunState): number | undefined {
  if (isOver(state)) return leavesDoubt(state) ? (state.completedAt ?? state.updatedAt) : undefined;
  const times = questionsOf(state).map(({ openedAt }) => openedAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Waits that a person can answer. None of a run that is about to end: every answer would be refused. */
export function questionsOf({ waits, cancellation, compensating }: RunState): readonly Wait[] {
  return cancellation || compensating ? [] : waits.filter(({ kind }) => kind === 'approval');
}

/**
 * Returns true if the run ended with an effect whose outcome its journal does not have. The ledger may have it since.
 */
export function leavesDoubt(state: RunState): boolean {
  return isOver(state) && state.effects.length > 0;
}
