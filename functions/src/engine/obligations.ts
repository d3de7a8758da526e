/**
 * What the end of a run owes to others: its parent hears of it, its children are cancelled unless they were to go on
 * alone, and its places at rendezvous are given back. All of it can be done again, so a crash in between costs nothing:
 * until all is done `wakeAt` stays set and the scan has a drive finish it (J10).
 */
import { hasObligations, isOver, type RunState, tookIn } from '../core/run/state.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import type { EngineDeps } from './deps.ts';
import { leaveRendezvous } from './rendezvous/leave.ts';

/** Does nothing, and reads nothing, for a run that is not over or owes nothing. */
export async function meetObligations(deps: EngineDeps, ended: RunState): Promise<void> {
  if (!isOver(ended) || !hasObligations(ended)) return;
  const runId = ended.id;
  const loaded = await deps.store.load(runId);
  if (!loaded || loaded.soft.obligationsMet) return;
  await untie(deps, loaded);
  await deps.otherRuns.tellParent(loaded.state);
  // Stale: another drive was as far, or the scan moved `wakeAt`; then this is found once more, and does nothing twice.
  const { snapshotVersion: seen } = loaded;
  await deps.store.touch({ runId, seen, soft: { heartbeat: false, obligationsMet: true } });
}

async function untie(deps: EngineDeps, { state }: LoadedRun): Promise<void> {
  const { id: runId, tenantId } = state;
  for (const tie of state.ties) {
    if (tie.kind === 'event') {
      const { name: event, key } = tie;
      await leaveRendezvous(deps, { tenantId, event, key, runId }, (eventId) => tookIn(state, eventId));
    } else if (tie.onParentEnd === 'cancel') {
      await deps.otherRuns.cancelChild(state, tie.runId);
    }
  }
}
