/** Checks that a run exists, without reading its content: after a roll-back, its documents may be unreadable. */
import { type SendDeps, sendUntilKnown } from '../journal/send-until-known.ts';
import type { Log } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import { isOfDocument } from '../ports/store-errors.ts';

interface ExistenceDeps extends SendDeps {
  readonly store: RunStore;
  readonly log: Log;
}

/**
 * Returns true also for a run whose documents are damaged or were written by a newer version.
 *
 * @throws CairnError UNAVAILABLE if the store does not answer
 */
export async function runExists(deps: ExistenceDeps, runId: string): Promise<boolean> {
  try {
    return (await sendUntilKnown(deps, () => deps.store.load(runId))) !== undefined;
  } catch (error) {
    if (!isOfDocument(error)) throw error;
    deps.log.warn('existing_run_unreadable', { runId, error: error.message });
    return true;
  }
}
