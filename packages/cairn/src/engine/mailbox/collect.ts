/**
 * Delivers buffered events to a run whose wait was registered before. The waiting step interprets an event, so a run whose plan
 * version is not deployed receives none. The event stays buffered, and this code delivers it when the version is deployed
 * again.
 *
 * Must not: decide which waits would receive the event (event-answers.ts).
 */

import type { BufferedEvent, MailboxAddress } from '../../core/mailbox/mailbox.ts';
import { hasExpired } from '../../core/mailbox/tidy.ts';
import type { RunState } from '../../core/run/state.ts';
import { messageOf } from '../../core/thrown.ts';
import { isOfDocument, StoreRefused } from '../../ports/store-errors.ts';
import { isPlanMissing } from '../definition-of-run.ts';
import { type DeliverDeps, deliver, deliveredDataOf } from './deliver.ts';
import { answersOn, waitsAnsweredBy } from './event-answers.ts';
import { offerTo } from './offer.ts';
import { scanSoon } from './scan-soon.ts';

/**
 * `not_yet`: an event is buffered, but the version that could receive it is not deployed. Idempotent.
 *
 * @throws OutcomeUnknown, CairnError: then try again
 */
export async function deliverReady(
  deps: DeliverDeps,
  state: RunState,
): Promise<'nothing' | 'delivered' | 'not_yet'> {
  let isDelivered = false;
  for (const address of addressesOf(state)) {
    const stored = await deps.mailboxes.read(address);
    for (const event of stored?.mailbox.buffered ?? []) {
      const { drafts, refused } = answersTo(deps, state, { address, event });
      if (refused && isPlanMissing(refused)) return 'not_yet';
      if (drafts.length === 0) continue;
      await deliverTo(deps, state.id, { address, event });
      isDelivered = true;
    }
  }
  return isDelivered ? 'delivered' : 'nothing';
}

/**
 * Call before a run continues, and for a task that finds it waiting, because any change of the run may move the scan that was
 * to deliver a refused event (scan-soon.ts). Returns true if an event was delivered, so that the run has changed.
 *
 * @throws OutcomeUnknown, CairnError
 */
export async function deliverBuffered(deps: DeliverDeps, state: RunState): Promise<boolean> {
  const waits = state.waits.filter(({ announced }) => announced);
  if (waits.length === 0) return false;
  const found = await deliverReady(deps, { ...state, waits });
  if (found === 'not_yet') await scanSoon(deps, state.id);
  return found === 'delivered';
}

interface BufferedAt {
  readonly address: MailboxAddress;
  readonly event: BufferedEvent;
}

/**
 * Continues the delivery as if the event were sent again, to all listed waits. Another run that cannot be read or written gets
 * it later. If this run itself failed, offering the event to it alone reports the failure.
 */
async function deliverTo(deps: DeliverDeps, runId: string, { address, event }: BufferedAt): Promise<void> {
  try {
    await deliver(deps, address, event);
  } catch (error) {
    if (!isOfDocument(error) && !(error instanceof StoreRefused)) throw error;
    await offerTo(deps, runId, { ...address, data: deliveredDataOf(event) });
    deps.log.warn('event_not_delivered_to_all', { runId, error: messageOf(error) });
  }
}

/** Answers of this run to the event. */
function answersTo({ registry, clock }: DeliverDeps, state: RunState, { address, event }: BufferedAt) {
  const now = clock.now();
  if (event.takenBy || hasExpired(event, now)) return { drafts: [] };
  const waits = waitsAnsweredBy(state, address.event, address.key);
  return answersOn(state, { registry, data: deliveredDataOf(event), waits, now });
}

/**
 * Mailbox addresses without duplicates, because a run may wait twice for the same event. At most as many as it has open waits.
 */
function addressesOf({ tenantId, waits }: RunState): readonly MailboxAddress[] {
  const addresses = new Map<string, MailboxAddress>();
  for (const { kind, name: event, key } of waits) {
    if (kind !== 'event' || event === undefined || key === undefined) continue;
    addresses.set(JSON.stringify([event, key]), { tenantId, event, key });
  }
  return [...addresses.values()];
}
