/**
 * Corrects the event mailbox entry of a run by the rules of the mailbox: it is shared by several runs, so entries are
 * added and removed as runs do it, never overwritten. Idempotent.
 */

import type { PlaceChange } from '../../core/integrity/plan.ts';
import type { BufferedEvent } from '../../core/mailbox/mailbox.ts';
import { type RunState, tookIn } from '../../core/run/state.ts';
import { workflowOf } from '../../engine/deployed.ts';
import type { DeliverDeps } from '../../engine/mailbox/deliver.ts';
import { joinMailbox } from '../../engine/mailbox/join.ts';
import { leaveMailbox } from '../../engine/mailbox/leave.ts';
import { eventOutput, offerTo } from '../../engine/mailbox/offer.ts';

export type PlaceDeps = DeliverDeps;

/** @throws CairnError RATE_LIMITED if too many wait there; OutcomeUnknown */
export async function repairMailboxEntry(
  deps: PlaceDeps,
  state: RunState,
  place: PlaceChange,
): Promise<void> {
  const { event, key, waitId } = place;
  const { id: runId, tenantId } = state;
  const wait = state.waits.find(({ id }) => id === waitId);
  const at = { tenantId, event, key, runId, waitId };
  if (place.kind === 'leave' || !wait) {
    return leaveMailbox(deps, at, (eventId) => tookIn(state, eventId));
  }
  const step = workflowOf(deps.registry, state)?.steps.get(wait.execution.stepId);
  // A step that is not deployed takes nothing yet: it is listed, and asked again when an event is sent.
  const accepts = ({ eventId, dataText }: BufferedEvent) =>
    step !== undefined && !tookIn(state, eventId) && 'text' in eventOutput(step, dataText);
  const early = await joinMailbox(deps, { ...at, accepts });
  if (!early) return undefined;
  const { eventId: id, dataText, actor } = early;
  const delivered = { id, dataText, actor, initiator: actor === undefined ? 'system' : 'user' } as const;
  const { isDelivered } = await offerTo(deps, runId, { tenantId, event, key, data: delivered });
  return leaveMailbox(deps, at, (eventId) => isDelivered && eventId === id);
}
