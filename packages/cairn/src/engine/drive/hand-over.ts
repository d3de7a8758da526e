/**
 * A dispatch that arrived in another queue than the run's: suspects run alone, and some workflows have separate
 * functions.
 */
import { type RunState, runsAlone } from '../../core/run/state.ts';
import type { DriveReason } from '../../ports/task-queue.ts';
import type { EngineDeps } from '../deps.ts';
import { poolAndTenant } from '../enqueue-soon.ts';
import type { DriveAccount } from '../tracing/drive-account.ts';

/** Hands the run to its own queue unless the dispatch came from it. Returns true if it did. */
export async function handedOver(deps: EngineDeps, state: RunState, account: DriveAccount): Promise<boolean> {
  const isSuspect = runsAlone(state);
  const place = poolAndTenant(deps, state);
  const staysInCompany = isSuspect === account.isAlone;
  if (staysInCompany && place.pool === account.pool) return false;
  const reason: DriveReason = staysInCompany ? 'continue' : isSuspect ? 'suspect' : 'cleared';
  // Unnamed: the same run may have to move again before anything is appended.
  await deps.queue.enqueue({ runId: state.id, reason, alone: isSuspect, ...place, trace: account.trace });
  return true;
}
