/**
 * Removes an ended run from the inbox once the ledger knows the outcome of all its effects. The outcomes come from an operator, a
 * late response or a successor, and are not in the run's journal (J6).
 *
 * Must not: decide what is still in doubt (core/effects), or change anything except the inbox entry.
 */
import { isInDoubt } from '../../core/effects/effect.ts';
import { endedInDoubt } from '../../core/run/open-questions.ts';
import type { Log } from '../../ports/log.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { EffectStore } from '../../ports/runs/effect-store.ts';

export interface RemoveFromInboxDeps {
  readonly store: Pick<RunStore, 'load' | 'touch'>;
  readonly effects: Pick<EffectStore, 'read'>;
  readonly log: Log;
}

/**
 * Never throws: until it succeeds, the inbox shows a run without a question, and the next reader of the inbox tries again. The same
 * applies to a run whose document changed after it was read.
 */
export async function removeFromInbox(
  { store, effects, log }: RemoveFromInboxDeps,
  runId: string,
): Promise<void> {
  try {
    const loaded = await store.load(runId);
    if (!loaded || !endedInDoubt(loaded.state)) return;
    for (const { effectId } of loaded.state.effects) {
      const stored = await effects.read(effectId);
      if (!stored || isInDoubt(stored.record)) return;
    }
    await store.touch({ runId, seen: loaded.snapshotVersion, asksNothing: true });
  } catch (error) {
    log.warn('inbox_entry_not_removed', { runId, error });
  }
}
