/**
 * Completion duties of a run: its parent is notified, its children are cancelled unless abandoned, its event mailbox entries
 * are removed, and its last events are published. All are idempotent. After a crash the scan starts a dispatch that finishes
 * them, because `wakeAt` stays set until all are done (J10).
 */
import { CairnError } from '../core/errors.ts';
import {
  type ExternalRegistration,
  hasCompletionDuties,
  hasReceived,
  isOver,
  type RunState,
} from '../core/run/state.ts';
import { isPlanMissing } from './definition-of-run.ts';
import type { EngineDeps } from './deps.ts';
import { eachReadable } from './each-readable.ts';
import { leaveMailbox } from './mailbox/leave.ts';
import { isOfOtherRun } from './other-run.ts';
import { settleEvents, type UnpublishedEvents, unpublishedOf } from './publish/unpublished.ts';
import { orEnd } from './unwritable.ts';

/**
 * Call for a run that no worker holds. If the run is live or has no completion duties, this only publishes `events`, without a
 * read.
 *
 * @param events unpublished events of the run, if the caller knows them; default: those of the loaded run
 * @throws at the end if duties are left because a run cannot be read or written, or because the plan of the parent is not
 * deployed
 */
export async function meetCompletionDuties(
  deps: EngineDeps,
  ended: RunState,
  events?: UnpublishedEvents,
): Promise<void> {
  if (!isOver(ended) || !hasCompletionDuties(ended)) return events && settleEvents(deps, ended, events);
  const runId = ended.id;
  const loaded = await deps.store.load(runId);
  if (!loaded) return;
  const { state, metadata, snapshotVersion: seen } = loaded;
  const left = metadata.dutiesMet ? undefined : await dutiesLeft(deps, state);
  const unpublished = events ? { ...events, seen } : unpublishedOf(deps, loaded);
  if (unpublished) await settleEvents(deps, state, { ...unpublished, hasDuties: left !== undefined });
  if (left) throw left;
  if (unpublished || metadata.dutiesMet) return;
  // A stale touch is ignored: another dispatch did this, or the scan moved `wakeAt`. The scan then finds the run again, and
  // repeated duties do nothing.
  await deps.store.touch({ runId, seen, metadata: { heartbeat: false, dutiesMet: true } });
}

/** The reason why some duties wait for another deployment. The last events of the run do not wait for it. */
async function dutiesLeft(deps: EngineDeps, state: RunState): Promise<Error | undefined> {
  try {
    await settleWithOthers(deps, state);
  } catch (error) {
    if (isOfOtherRun(error) || (error instanceof CairnError && isPlanMissing(error))) return error;
    throw error;
  }
}

/** One unreadable run, such as one that a newer version wrote, does not block the duties towards the others. */
function settleWithOthers(deps: EngineDeps, state: RunState): Promise<void> {
  const removals = state.ties.map((registration) => () => remove(deps, state, registration));
  return eachReadable([...removals, () => notifyParent(deps, state)], (duty) => duty());
}

/** A parent that accepts no outcome has ended and needs none, or has a finding and is notified when the duty is repeated. */
async function notifyParent(deps: EngineDeps, state: RunState): Promise<void> {
  if (state.parent) await orEnd(deps, state.parent.runId, deps.otherRuns.notifyParent(state));
}

async function remove(deps: EngineDeps, state: RunState, registration: ExternalRegistration): Promise<void> {
  const { id: runId, tenantId } = state;
  if (registration.kind === 'event') {
    const { name: event, key } = registration;
    await leaveMailbox(deps, { tenantId, event, key, runId }, (eventId) => hasReceived(state, eventId));
  } else if (registration.onParentEnd !== 'abandon') {
    await orEnd(deps, registration.runId, deps.otherRuns.cancelChild(state, registration.runId));
  }
}
