/** Removes a wait, or all waits of an ended run, from an event mailbox. */
import type { RendezvousAddress } from '../../ports/rendezvous-store.ts';
import { changeRendezvous } from './change.ts';
import { type DeliverDeps, passOn } from './deliver.ts';
import { left } from './membership.ts';

export interface LeaveRequest extends RendezvousAddress {
  readonly runId: string;
  /** Only this wait; absent: all waits of the run. */
  readonly waitId?: string;
}

/**
 * Strikes the run off. An event it had taken out is done with if the run has taken it in (`wasApplied`, which asks
 * `received`); otherwise it is given back, and passed on if others wait for it. Does nothing the second time. Call it
 * without `waitId` when the run has ended, and may be called with it as soon as a wait is closed: that frees the event,
 * or the space it takes, at once.
 *
 * @throws OutcomeUnknown if it must be called again to be sure
 */
export async function leaveRendezvous(
  deps: DeliverDeps,
  { tenantId, event, key, runId, waitId }: LeaveRequest,
  wasApplied: (eventId: string) => boolean,
): Promise<void> {
  const address = { tenantId, event, key };
  const passing = await changeRendezvous(deps, address, (seen) =>
    left(seen, { runId, waitId, wasApplied, now: deps.clock.now() }),
  );
  for (const eventId of passing) await passOn(deps, address, eventId);
}
