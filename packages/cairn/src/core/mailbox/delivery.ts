/**
 * Delivery of an event, as recorded in its mailbox. The event is stored before it is offered to runs, and removed once its receivers
 * are known. So if the sender dies in between and sends it again, the event is neither lost nor received by a run that was not
 * waiting the first time. `engine/mailbox/` offers it, and appends to runs.
 */
import { CairnError } from '../errors.ts';
import { EVENT_TTL_MS, MAX_BUFFERED, MAX_BUFFERED_BYTES } from './limits.ts';
import type { BufferedEvent, Mailbox, MailboxAddress, Move, WaitRef } from './mailbox.ts';
import { emptyAt, hasExpired, tidied, withRuns } from './tidy.ts';

export type EventDelivery =
  /** The caller offers the event to these waits, and then calls `recordOffers`. */
  | { readonly kind: 'offer'; readonly event: BufferedEvent; readonly to: readonly WaitRef[] }
  | { readonly kind: 'delivered'; readonly deliveredTo: readonly string[] }
  /** The event is buffered for the first run that waits for it. */
  | { readonly kind: 'kept'; readonly until: number }
  /** Some runs could not be reached: the sender must send the event again. */
  | { readonly kind: 'unfinished' }
  /** No run received it while it was buffered. */
  | { readonly kind: 'expired' };

export type IncomingEvent = Pick<BufferedEvent, 'eventId' | 'dataText' | 'actor'>;

/** Returns true if this event was sent before, as far as remembered. */
export function isKnown(seen: Mailbox | undefined, { eventId }: Pick<IncomingEvent, 'eventId'>): boolean {
  const events = [...(seen?.buffered ?? []), ...(seen?.delivered ?? [])];
  return events.some((event) => event.eventId === eventId);
}

/**
 * Stores a new event, or finds the progress of an earlier sending.
 *
 * @throws CairnError RATE_LIMITED if too many undelivered events are buffered
 */
export function acceptEvent(
  seen: Mailbox | undefined,
  address: MailboxAddress,
  { event, now }: { readonly event: IncomingEvent; readonly now: number },
): Move<EventDelivery> {
  const { buffered, ...rest } = seen ?? emptyAt(address);
  const { waiting } = rest;
  const past = rest.delivered.find(({ eventId }) => eventId === event.eventId);
  if (past) return { next: seen, result: { kind: 'delivered', deliveredTo: past.deliveredTo } };
  const live = buffered.filter((other) => !hasExpired(other, now));
  const known = live.find(({ eventId }) => eventId === event.eventId);
  if (known?.takenBy) {
    // A passed-on event is for all registered waits, even if another one has taken it meanwhile.
    const to = [known.takenBy, ...(known.passing ? waiting : [])];
    return { next: seen, result: { kind: 'offer', event: known, to } };
  }
  if (known && waiting.length === 0)
    return recordOffers(seen, address, { eventId: known.eventId, now, offered: NOBODY });
  if (known?.passing) return { next: seen, result: { kind: 'offer', event: known, to: waiting } };
  if (!known) assertRoom(live, event);
  const base = known ?? { ...event, at: now, expiresAt: now + EVENT_TTL_MS, deliveredTo: [] };
  const noted: BufferedEvent = waiting.length === 0 ? base : { ...base, passing: 'sender' };
  const next = tidied({ ...rest, buffered: [...live.filter((other) => other !== known), noted] }, now);
  if (waiting.length === 0) return { next, result: { kind: 'kept', until: noted.expiresAt } };
  return { next, result: { kind: 'offer', event: noted, to: waiting } };
}

/** Result of all rounds of one delivery. */
export interface Offered {
  /** Runs that received the event. */
  readonly deliveredTo: readonly string[];
  /** Waits that have ended. */
  readonly closed: readonly WaitRef[];
  /** Open waits whose step refused the data. */
  readonly refused: readonly WaitRef[];
  /** Waits whose runs could not be reached. */
  readonly failed: readonly WaitRef[];
}

export const NOBODY: Offered = { deliveredTo: [], closed: [], refused: [], failed: [] };

export interface DeliveryReport {
  readonly eventId: string;
  readonly offered: Offered;
  /** Epoch ms. */
  readonly now: number;
}

/** Removes what the offers settled, and decides what remains to be done. */
export function recordOffers(
  seen: Mailbox | undefined,
  address: MailboxAddress,
  { eventId, offered, now }: DeliveryReport,
): Move<EventDelivery> {
  const at = seen ?? emptyAt(address);
  const { waiting, holder } = afterOffers(at, eventId, offered);
  const event = at.buffered.find((other) => other.eventId === eventId);
  if (!event) return settledMeanwhile(seen, { eventId, offered, now, waiting });
  const deliveredTo = withRuns(event.deliveredTo, offered.deliveredTo);
  const unsettled: BufferedEvent = { ...event, deliveredTo, takenBy: holder };
  const others = at.buffered.filter((other) => other !== event);
  const put = (changed: BufferedEvent) => tidied({ ...at, waiting, buffered: [...others, changed] }, now);
  if (offered.failed.length > 0) return { next: put(unsettled), result: { kind: 'unfinished' } };
  if (holder) return { next: put(unsettled), result: { kind: 'offer', event: unsettled, to: [holder] } };
  if (deliveredTo.length > 0) {
    const delivered = [...at.delivered, { eventId, at: now, deliveredTo }];
    const next = tidied({ ...at, waiting, buffered: others, delivered }, now);
    return { next, result: { kind: 'delivered', deliveredTo } };
  }
  if (event.expiresAt <= now) {
    return { next: tidied({ ...at, waiting, buffered: others }, now), result: { kind: 'expired' } };
  }
  const refused = keysOf(offered.refused);
  const to = waiting.filter((wait) => !refused.has(keyOf(wait)));
  if (to.length === 0) {
    const buffered: BufferedEvent = { ...unsettled, passing: undefined };
    return { next: put(buffered), result: { kind: 'kept', until: event.expiresAt } };
  }
  // A buffered event has no sender that would send it again, so the run that gave it back passes it on.
  const passing = event.passing ?? (event.takenBy ? 'giver' : 'sender');
  const further: BufferedEvent = { ...unsettled, passing };
  return { next: put(further), result: { kind: 'offer', event: further, to } };
}

/** Waits that are still open and receivers that still hold the event, after the offers. */
function afterOffers(
  at: Mailbox,
  eventId: string,
  { closed, refused }: Offered,
): { readonly waiting: readonly WaitRef[]; readonly holder: WaitRef | undefined } {
  const over = keysOf(closed);
  const unwilling = keysOf(refused);
  const takenBy = at.buffered.find((event) => event.eventId === eventId)?.takenBy;
  const key = takenBy && keyOf(takenBy);
  const givesBack = takenBy !== undefined && key !== undefined && unwilling.has(key);
  const listed = at.waiting.filter((wait) => !over.has(keyOf(wait)));
  return {
    waiting: givesBack ? [...listed.filter((wait) => keyOf(wait) !== key), takenBy] : listed,
    holder: key === undefined || givesBack || over.has(key) ? undefined : takenBy,
  };
}

/** The mailbox no longer has the event: another process settled its delivery, or all possible receivers left. */
function settledMeanwhile(
  seen: Mailbox | undefined,
  { eventId, offered, now, waiting }: DeliveryReport & Pick<Mailbox, 'waiting'>,
): Move<EventDelivery> {
  const past = seen?.delivered.find((event) => event.eventId === eventId);
  const deliveredTo = withRuns(past?.deliveredTo ?? [], offered.deliveredTo);
  const result: EventDelivery =
    deliveredTo.length > 0 ? { kind: 'delivered', deliveredTo } : { kind: 'expired' };
  if (!seen || (waiting.length === seen.waiting.length && deliveredTo === past?.deliveredTo))
    return { next: seen, result };
  const delivered = seen.delivered.map((event) => (event === past ? { ...past, deliveredTo } : event));
  return { next: tidied({ ...seen, waiting, delivered }, now), result };
}

function keyOf({ runId, waitId }: WaitRef): string {
  return `${runId} ${waitId}`;
}

function keysOf(waits: readonly WaitRef[]): ReadonlySet<string> {
  return new Set(waits.map(keyOf));
}

function assertRoom(buffered: readonly BufferedEvent[], { dataText }: IncomingEvent): void {
  const bytes = buffered.reduce(
    (sum, event) => sum + Buffer.byteLength(event.dataText),
    Buffer.byteLength(dataText),
  );
  if (buffered.length < MAX_BUFFERED && bytes <= MAX_BUFFERED_BYTES) return;
  throw new CairnError(
    'RATE_LIMITED',
    `${buffered.length} undelivered events with this name and key are buffered, the most allowed`,
    {
      details: { events: buffered.length, maxEvents: MAX_BUFFERED, maxBytes: MAX_BUFFERED_BYTES },
      help: 'Send it again after a run has received the buffered events, or after 24 hours.',
    },
  );
}
