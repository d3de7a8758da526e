/**
 * Offers an event to a run: appends that its waits for it are answered, if they still are open on the newest state.
 * Idempotent: the journal has the ids of the received events.
 *
 * Must not: decide which waits the event answers (event-answers.ts).
 */

import type { CairnError } from '../../core/errors.ts';
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import { hasReceived } from '../../core/run/state.ts';
import { appendUnleased } from '../../journal/append-unleased.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import { type DriveAfterDeps, driveAfter } from '../drive-after.ts';
import { answersOn, type DeliveredData, waitsAnsweredBy } from './event-answers.ts';

export interface OfferDeps extends JournalDeps, DriveAfterDeps {
  readonly registry: WorkflowRegistry;
}

export interface OfferResult {
  /** The event is in the journal of the run, now or since earlier. */
  readonly isDelivered: boolean;
  /** The reason why an open wait refuses it. */
  readonly refused?: CairnError | undefined;
  /** Waits of the run for an event of this name and key that still are open. */
  readonly open: readonly string[];
}

/** @throws OutcomeUnknown if it is unknown whether the run has received it; NewerSchemaError */
export async function offerTo(
  deps: OfferDeps,
  runId: string,
  { tenantId, event, key, data }: MailboxAddress & { readonly data: DeliveredData },
): Promise<OfferResult> {
  const loaded = await deps.store.load(runId);
  if (loaded?.state.tenantId !== tenantId) return { isDelivered: false, open: [] };
  let refused: CairnError | undefined;
  const { registry } = deps;
  const appended = await appendUnleased(deps, loaded, (state, now) => {
    const answers = answersOn(state, { registry, data, waits: waitsAnsweredBy(state, event, key), now });
    refused = answers.refused;
    return answers.drafts;
  });
  await driveAfter(deps, appended);
  const { state } = appended;
  return {
    isDelivered: hasReceived(state, data.id),
    refused,
    open: waitsAnsweredBy(state, event, key).map(({ id }) => id),
  };
}
