/** Registers a wait in an event mailbox once the wait is in its journal. */
import type { BufferedEvent, MailboxAddress, WaitRef } from '../../core/mailbox/mailbox.ts';
import { addWait } from '../../core/mailbox/membership.ts';
import { eachReadable } from '../each-readable.ts';
import { changeMailbox } from './change.ts';
import { askHolder, type DeliverDeps } from './deliver.ts';

interface JoinRequest extends MailboxAddress, WaitRef {
  /**
   * Returns true if the step accepts this event (`eventOutput`); others are left to other runs. Absent: accepts all.
   */
  readonly accepts?: (event: BufferedEvent) => boolean;
}

/** Attempts to take a buffered event that another wait holds. The wait is registered in any case. */
const MAX_TRIES = 3;

/**
 * Returns the oldest buffered event, which now belongs to this wait: the run must append its receipt (with `eventId` as
 * `signalId`, unless `received` has it already), or return it with `leaveMailbox`. Returns undefined if the wait is registered,
 * so that the sender of the event will append it. Idempotent.
 *
 * @throws CairnError RATE_LIMITED if too many wait for this name and key; OutcomeUnknown; a holder's `isOfOtherRun`: the wait
 * is registered, and the holder keeps the event until it is asked again
 */
export async function joinMailbox(
  deps: DeliverDeps,
  request: JoinRequest,
): Promise<BufferedEvent | undefined> {
  const { tenantId, event, key, runId, waitId, accepts = () => true } = request;
  const address = { tenantId, event, key };
  for (let tries = 1; ; tries += 1) {
    const { buffered, takenByOthers } = await changeMailbox(deps, address, (seen) =>
      addWait(seen, address, { runId, waitId, accepts, now: deps.clock.now() }),
    );
    if (buffered || takenByOthers.length === 0 || tries === MAX_TRIES) return buffered;
    await eachReadable(takenByOthers, (eventId) => askHolder(deps, address, eventId));
  }
}
