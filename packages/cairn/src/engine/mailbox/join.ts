/** Registers a wait in an event mailbox once the wait is in its journal. */
import type { BufferedEvent, MailboxAddress, WaitRef } from '../../core/mailbox/mailbox.ts';
import { addWait } from '../../core/mailbox/membership.ts';
import { messageOf } from '../../core/thrown.ts';
import { isOfOtherRun } from '../other-run.ts';
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
 * Returns the oldest buffered event: it belongs to this wait now, and the run must append its receipt (with `eventId`
 * as `signalId`, unless `received` has it already), or return it with `leaveMailbox`. Undefined: the wait is
 * registered, and the sender of the event will append it. Idempotent.
 *
 * @throws CairnError RATE_LIMITED if too many wait for this name and key; OutcomeUnknown
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
    for (const eventId of takenByOthers) await askReadable(deps, address, { eventId, runId });
  }
}

/** A holder that cannot be read or written keeps the event until it can be: it must not keep this run from its other steps. */
async function askReadable(
  deps: DeliverDeps,
  address: MailboxAddress,
  { eventId, runId }: { readonly eventId: string; readonly runId: string },
): Promise<void> {
  try {
    await askHolder(deps, address, eventId);
  } catch (error) {
    if (!isOfOtherRun(error)) throw error;
    deps.log.warn('event_holder_not_asked', { runId, eventId, error: messageOf(error) });
  }
}
