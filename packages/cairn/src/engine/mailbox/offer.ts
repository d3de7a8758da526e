/**
 * Offers an event to a run: appends that its waits for it are answered, if they still are open on the newest state.
 * Idempotent: the journal has the ids of the received events.
 *
 * Must not: decide which waits the event answers (event-answers.ts).
 */

import type { CairnError } from '../../core/errors.ts';
import { MAX_DELIVERED_BYTES } from '../../core/mailbox/limits.ts';
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { EventDraft, PayloadRef } from '../../core/run/events.ts';
import { hasReceived, type RunState } from '../../core/run/state.ts';
import { appendUnleased } from '../../journal/append-unleased.ts';
import { MAX_COMMIT_BYTES } from '../../journal/batch.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import { type DriveAfterDeps, driveAfter } from '../drive-after.ts';
import { answersOn, type DeliveredData, waitsAnsweredBy } from './event-answers.ts';

export interface OfferDeps extends JournalDeps, DriveAfterDeps {
  readonly registry: WorkflowRegistry;
}

export interface OfferResult {
  /** True if the event is in the journal of the run, from this offer or an earlier one. */
  readonly isDelivered: boolean;
  /** The reason why an open wait refuses it. */
  readonly refused?: CairnError | undefined;
  /** Waits of the run for an event of this name and key that still are open. */
  readonly open: readonly string[];
}

/** Number of payloads, of up to 256 KiB each, that are written concurrently. */
const WRITTEN_AT_ONCE = 8;

/** @throws OutcomeUnknown if the receipt is unknown; NewerSchemaError */
export async function offerTo(
  deps: OfferDeps,
  runId: string,
  { tenantId, event, key, data }: MailboxAddress & { readonly data: DeliveredData },
): Promise<OfferResult> {
  const loaded = await deps.store.load(runId);
  if (loaded?.state.tenantId !== tenantId) return { isDelivered: false, open: [] };
  let refused: CairnError | undefined;
  const { registry, store } = deps;
  const answered = (state: RunState, now: number) =>
    answersOn(state, { registry, data, waits: waitsAnsweredBy(state, event, key), now });
  const isCrowd = waitsAnsweredBy(loaded.state, event, key).length * MAX_DELIVERED_BYTES > MAX_COMMIT_BYTES;
  const payloads = isCrowd
    ? await writeOutputs(store, runId, answered(loaded.state, loaded.readAt).drafts)
    : new Map<string, PayloadRef>();
  const appended = await appendUnleased(deps, loaded, (state, now) => {
    const answers = answered(state, now);
    refused = answers.refused;
    return answers.drafts.map((draft) => withPayload(draft, payloads));
  });
  await driveAfter(deps, appended);
  const { state } = appended;
  return {
    isDelivered: hasReceived(state, data.id),
    refused,
    open: waitsAnsweredBy(state, event, key).map(({ id }) => id),
  };
}

/**
 * Stores the outputs of one append as payloads, each text once, if they exceed a commit together. They cannot be split over
 * several commits, because the first one records the receipt of the event.
 */
async function writeOutputs(
  store: RunStore,
  runId: string,
  drafts: readonly EventDraft[],
): Promise<ReadonlyMap<string, PayloadRef>> {
  const texts = drafts.flatMap(({ outputText }) => outputText ?? []);
  const most = MAX_COMMIT_BYTES / Math.max(texts.length, 1);
  const large = [...new Set(texts)].filter((text) => Buffer.byteLength(text) > most);
  return new Map(
    await mapConcurrently(large, WRITTEN_AT_ONCE, async (text) => {
      return [text, await store.writePayload(runId, text)] as const;
    }),
  );
}

function withPayload(draft: EventDraft, payloads: ReadonlyMap<string, PayloadRef>): EventDraft {
  const { outputText, ...rest } = draft;
  const outputRef = outputText === undefined ? undefined : payloads.get(outputText);
  return outputRef ? { ...rest, outputRef } : draft;
}
