/**
 * Records that the process of an earlier delivery of a task died after it had released its run. The current holder of
 * the run keeps it.
 */
import { lateDeath } from '../../core/decisions/claim.ts';
import { RunJournal } from '../../journal/run-journal.ts';
import { ofRun } from '../../ports/log.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import type { EngineDeps } from '../deps.ts';
import type { DriveAccount } from '../tracing/drive-account.ts';

/** Returns true if there was such a death: the loaded state is then out of date. */
export async function noteLateDeath(
  deps: EngineDeps,
  loaded: LoadedRun,
  { delivery }: DriveAccount,
): Promise<boolean> {
  const epoch = lateDeath(loaded.state, delivery);
  if (epoch === undefined) return false;
  const journal = new RunJournal(deps, loaded, deps.settings);
  const { events } = await journal.append((state) =>
    lateDeath(state, delivery) === epoch
      ? [{ type: 'worker_lost', initiator: 'system', data: { epoch } }]
      : [],
  );
  if (events.length > 0) deps.log.warn('worker_lost', { ...ofRun(loaded.state), epoch });
  return true;
}
