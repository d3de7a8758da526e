/**
 * Has the scan look soon at a run that could not take an event in because the version of its plan is not deployed. It would
 * only look a day later, and nobody else brings the event once that version is back (collect.ts).
 *
 * Must not: append anything.
 */
import { PARKED_MS, wakeAt } from '../../core/run/wake.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';

/** How often a run is read again that others write at the same time; one that waits without its plan is hardly ever. */
const MAX_LOOKS = 3;

/** As often as at one that is parked. @throws OutcomeUnknown */
export async function lookSoon({ store, clock }: JournalDeps, runId: string): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const loaded = await store.load(runId);
    if (!loaded) return;
    const { state, soft, snapshotVersion: seen } = loaded;
    const soon = clock.now() + PARKED_MS;
    if ((wakeAt(state, soft) ?? Number.POSITIVE_INFINITY) <= soon) return;
    if ((await store.touch({ runId, seen, wakeAt: soon })).kind === 'touched') return;
  }
}
