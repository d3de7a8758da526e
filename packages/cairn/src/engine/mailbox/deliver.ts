/**
 * Carries out a delivery: offers the event to waiting runs, reports the outcome, and continues until it is delivered,
 * or buffered because no run accepts it.
 */

import { CairnError, type ErrorCode } from '../../core/errors.ts';
import {
  acceptEvent,
  type DeliveryReport,
  type EventDelivery,
  type IncomingEvent,
  isKnown,
  NOBODY,
  type Offered,
  recordOffers,
} from '../../core/mailbox/delivery.ts';
import type { MailboxAddress, WaitRef } from '../../core/mailbox/mailbox.ts';
import { workThroughAll } from '../../core/map-concurrently.ts';
import { NewerSchemaError } from '../../core/run/events.ts';
import { messageOf } from '../../core/thrown.ts';
import { OutcomeUnknown, StoreRefused } from '../../ports/store-errors.ts';
import { isPlanMissing } from '../definition-of-run.ts';
import { asOfOtherRun, onOtherRun } from '../other-run.ts';
import { changeMailbox, type MailboxDeps } from './change.ts';
import type { DeliveredData } from './event-answers.ts';
import { type OfferDeps, type OfferResult, offerTo } from './offer.ts';
import { scanAndDispatchSoon } from './scan-soon.ts';

export interface DeliverDeps extends MailboxDeps, OfferDeps {}

export interface EventRefusal {
  readonly runId: string;
  readonly code: ErrorCode;
  readonly reason: string;
}

export interface Delivered {
  /** True if the same event was delivered before. */
  readonly repeated: boolean;
  readonly outcome: Exclude<EventDelivery, { kind: 'offer' | 'unfinished' }>;
  readonly refused: readonly EventRefusal[];
}

/** Runs an event is appended to at the same time. */
const OFFER_CONCURRENCY = 16;
/** Rounds of offers to waits that joined during the previous round. More than one is rare, so many mean a fault. */
const MAX_ROUNDS = 20;

/**
 * Delivers the event to all waiting runs, or buffers it for the first that waits. A repetition continues where the last call stopped.
 *
 * @throws CairnError RATE_LIMITED; OutcomeUnknown: the sender must send it again
 */
export async function deliver(
  deps: DeliverDeps,
  address: MailboxAddress,
  event: IncomingEvent,
): Promise<Delivered> {
  let repeated: boolean | undefined;
  const begun = await changeMailbox(deps, address, (seen) => {
    // Only the first read counts, because a later one may contain our own write, whose response was lost.
    repeated ??= isKnown(seen, event);
    return acceptEvent(seen, address, { event, now: deps.clock.now() });
  });
  return { ...(await offerUntilDone(deps, address, begun)), repeated: repeated ?? false };
}

/**
 * Delivers a returned event to the waits that have joined meanwhile.
 *
 * @throws OutcomeUnknown, and an error that `isOfOtherRun`
 */
export async function passOn(deps: DeliverDeps, address: MailboxAddress, eventId: string): Promise<void> {
  const begun = await report(deps, address, { eventId, offered: NOBODY });
  await onOtherRun(offerUntilDone(deps, address, begun));
}

/**
 * Determines whether the holder of an event will still receive it: its wait may have ended after the holder died. Then
 * the event is free for others.
 *
 * @throws OutcomeUnknown, and an error that `isOfOtherRun`
 */
export async function askHolder(deps: DeliverDeps, address: MailboxAddress, eventId: string): Promise<void> {
  const begun = await report(deps, address, { eventId, offered: NOBODY });
  if (begun.kind !== 'offer' || !begun.event.takenBy) return;
  const tally = new OfferTally();
  await offerAll(deps, address, { data: deliveredDataOf(begun.event), to: begun.to, tally });
  await report(deps, address, { eventId, offered: tally.offered });
  if (tally.failure) throw asOfOtherRun(tally.failure);
}

async function offerUntilDone(
  deps: DeliverDeps,
  address: MailboxAddress,
  begun: EventDelivery,
): Promise<Omit<Delivered, 'repeated'>> {
  const tally = new OfferTally();
  let delivery = begun;
  for (let round = 0; delivery.kind === 'offer'; round += 1) {
    if (round === MAX_ROUNDS)
      throw new OutcomeUnknown('delivery of an event', 'the number of recipients keeps growing');
    const { event, to } = delivery;
    await offerAll(deps, address, { data: deliveredDataOf(event), to, tally });
    delivery = await report(deps, address, { eventId: event.eventId, offered: tally.offered });
  }
  if (delivery.kind === 'unfinished') throw tally.failure ?? new Error('incomplete, without a failure');
  return { outcome: delivery, refused: tally.refusals };
}

/** Records what the offers have settled. */
function report(
  deps: DeliverDeps,
  address: MailboxAddress,
  offers: Omit<DeliveryReport, 'now'>,
): Promise<EventDelivery> {
  return changeMailbox(deps, address, (seen) =>
    recordOffers(seen, address, { ...offers, now: deps.clock.now() }),
  );
}

export function deliveredDataOf({ eventId: id, dataText, actor }: IncomingEvent): DeliveredData {
  return { id, dataText, actor, initiator: actor === undefined ? 'system' : 'user' };
}

interface Round {
  readonly data: DeliveredData;
  readonly to: readonly WaitRef[];
  readonly tally: OfferTally;
}

/** True for an error after which the sender must repeat the event; otherwise the run would wait for it for a day. */
function isToRepeat(error: unknown): error is OutcomeUnknown | NewerSchemaError | StoreRefused {
  return [OutcomeUnknown, NewerSchemaError, StoreRefused].some((kind) => error instanceof kind);
}

/** Makes one append for each run, however many of its waits are listed. */
async function offerAll(
  deps: DeliverDeps,
  address: MailboxAddress,
  { data, to, tally }: Round,
): Promise<void> {
  await workThroughAll(
    [...Map.groupBy(to, ({ runId }) => runId)],
    OFFER_CONCURRENCY,
    async ([runId, waits]) => {
      try {
        const reception = await offerTo(deps, runId, { ...address, data });
        if (reception.refused && isPlanMissing(reception.refused)) await scanAndDispatchSoon(deps, runId);
        tally.note(waits, reception);
      } catch (error) {
        if (isToRepeat(error)) tally.fail(waits, error);
        else {
          // One damaged run must not prevent the delivery to other runs, nor the response to the sender.
          deps.log.error('event_offer_failed', { runId, error: messageOf(error) });
          const refused = new CairnError('INTERNAL', 'the run could not be read or written', {
            cause: error,
          });
          tally.note(waits, { isDelivered: false, refused, open: waits.map(({ waitId }) => waitId) });
        }
      }
    },
  );
}

/** Result of all offers of one delivery. */
class OfferTally {
  readonly #deliveredTo: string[] = [];
  readonly #closed: WaitRef[] = [];
  readonly #refused: WaitRef[] = [];
  readonly #failed: WaitRef[] = [];
  readonly refusals: EventRefusal[] = [];
  failure: Error | undefined;

  get offered(): Offered {
    return {
      deliveredTo: this.#deliveredTo,
      closed: this.#closed,
      refused: this.#refused,
      failed: this.#failed,
    };
  }

  note(waits: readonly WaitRef[], { isDelivered, refused, open }: OfferResult): void {
    const [first] = waits;
    if (isDelivered && first) this.#deliveredTo.push(first.runId);
    if (refused && first)
      this.refusals.push({ runId: first.runId, code: refused.code, reason: refused.message });
    for (const wait of waits) (open.includes(wait.waitId) ? this.#refused : this.#closed).push(wait);
  }

  fail(waits: readonly WaitRef[], error: Error): void {
    this.failure ??= error;
    this.#failed.push(...waits);
  }
}
