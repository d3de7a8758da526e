/**
 * Delivers an event to every run that waits for it, or buffers it for the first run that will. A response is correct when it is
 * sent. A sender without a response repeats the event, and nothing is done twice.
 */

import { CairnError } from '../../core/errors.ts';
import { MAX_EVENT_KEY_CHARS, MAX_EVENT_NAME_CHARS } from '../../core/mailbox/limits.ts';
import { mailboxId } from '../../core/mailbox/mailbox.ts';
import { type DeliverDeps, deliver, type EventRefusal } from '../../engine/mailbox/deliver.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';
import { assertText, dataTextOf } from './checked-event.ts';

export interface EventToDeliver {
  readonly tenantId: string;
  readonly event: string;
  /** Correlation key of the waits that receive it. */
  readonly key: string;
  /** Any JSON value, up to 256 KiB. */
  readonly data?: unknown;
  /** The same for every attempt to send one event. */
  readonly eventId: string;
  readonly actor?: string | undefined;
}

/** Outcome of the event: received, buffered, or neither if it was sent again after its expiry. */
export interface EventDelivered {
  readonly eventId: string;
  /** Runs that received it, at most the first 20. */
  readonly delivered: readonly string[];
  /** True if no run received it and it is buffered for the first that waits. */
  readonly kept: boolean;
  /** Epoch ms. */
  readonly keptUntil?: number | undefined;
  /** Waiting runs whose step refused the data; they keep waiting. */
  readonly refused: readonly EventRefusal[];
  /** True if the event was sent before. The rest of the response describes this delivery. */
  readonly repeated: boolean;
}

/**
 * The data in its stored form; checks the event before anything is read or written.
 *
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE
 */
export function eventDataText({ event, key, data }: Pick<EventToDeliver, 'event' | 'key' | 'data'>): string {
  assertText('event', event, MAX_EVENT_NAME_CHARS);
  assertText('key', key, MAX_EVENT_KEY_CHARS);
  return dataTextOf(data);
}

/**
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, RATE_LIMITED (too many undelivered events), UNAVAILABLE (send
 * the same again)
 */
export async function deliverEvent(deps: DeliverDeps, sent: EventToDeliver): Promise<EventDelivered> {
  const { tenantId, event, key, eventId, actor } = sent;
  const dataText = eventDataText(sent);
  const address = { tenantId, event, key };
  try {
    const { outcome, refused, repeated } = await deliver(deps, address, { eventId, dataText, actor });
    const delivered = outcome.kind === 'delivered' ? outcome.deliveredTo : [];
    // The log has no key, because it may name a person. The document is the one of `gwi_waits`.
    const where = { tenantId, event, document: mailboxId(address) };
    deps.log.info('event_delivered', { ...where, eventId, outcome: outcome.kind, runs: delivered.length });
    return {
      eventId,
      delivered,
      kept: outcome.kind === 'kept',
      keptUntil: outcome.kind === 'kept' ? outcome.until : undefined,
      refused,
      repeated,
    };
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    throw new CairnError('UNAVAILABLE', 'some runs that wait for the event could not be reached', {
      cause: error,
    });
  }
}
