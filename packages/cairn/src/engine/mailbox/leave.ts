/** Removes a wait, or all waits of an ended run, from an event mailbox. */
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import { removeWaits } from '../../core/mailbox/membership.ts';
import { changeMailbox } from './change.ts';
import { type DeliverDeps, passOn } from './deliver.ts';

export interface LeaveRequest extends MailboxAddress {
  readonly runId: string;
  /** Only this wait; absent: all waits of the run. */
  readonly waitId?: string;
}

/**
 * Removes the run. An event it held is settled if the run has received it (`hasReceived`, which asks `received`); otherwise it
 * is returned, and passed on if others wait for it. Idempotent. Call it without `waitId` when the run has ended. It may be
 * called with `waitId` as soon as a wait is closed, to free the event or its space.
 *
 * @throws OutcomeUnknown if it must be called again to be sure
 */
export async function leaveMailbox(
  deps: DeliverDeps,
  { tenantId, event, key, runId, waitId }: LeaveRequest,
  hasReceived: (eventId: string) => boolean,
): Promise<void> {
  const address = { tenantId, event, key };
  const passing = await changeMailbox(deps, address, (seen) =>
    removeWaits(seen, { runId, waitId, hasReceived, now: deps.clock.now() }),
  );
  for (const eventId of passing) await passOn(deps, address, eventId);
}
