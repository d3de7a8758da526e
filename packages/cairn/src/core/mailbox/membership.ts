/**
 * Adds waits to an event mailbox and removes them: returns the new document and the meaning for the wait.
 *
 * Must not: know how a delivery continues (delivery.ts); it only says which events must be passed on.
 */
import { CairnError } from '../errors.ts';
import { MAX_WAITING, MAX_WAITING_BYTES } from './limits.ts';
import type { BufferedEvent, Mailbox, MailboxAddress, Move, WaitRef } from './mailbox.ts';
import { emptyAt, hasExpired, isSameWait, tidied, withRuns } from './tidy.ts';

interface Joining extends WaitRef {
  /** Epoch ms. */
  readonly now: number;
  /** Returns true if the wait accepts this event; others are left to other runs. */
  readonly accepts: (event: BufferedEvent) => boolean;
}

interface Joined {
  /** The buffered event that now belongs to the wait. Absent: the wait is registered and will receive one. */
  readonly buffered?: BufferedEvent;
  /** Ids of events it would take if their holders did not have them. */
  readonly takenByOthers: readonly string[];
}

export function addWait(
  seen: Mailbox | undefined,
  address: MailboxAddress,
  { now, accepts, runId, waitId }: Joining,
): Move<Joined> {
  const wait = { runId, waitId };
  const { waiting, buffered, ...rest } = seen ?? emptyAt(address);
  const own = buffered.find(({ takenBy }) => takenBy !== undefined && isSameWait(takenBy, wait));
  if (own) return { next: seen, result: { buffered: own, takenByOthers: [] } };
  const listed = waiting.some((other) => isSameWait(other, wait));
  // An event that is being passed on may be taken as well: its deliverer will find it taken, and ask the run.
  const found = buffered.find((event) => !event.takenBy && !hasExpired(event, now) && accepts(event));
  if (found) {
    const taken = { ...found, takenBy: wait };
    const next = {
      ...rest,
      waiting: listed ? waiting.filter((other) => !isSameWait(other, wait)) : waiting,
      buffered: buffered.map((event) => (event === found ? taken : event)),
    };
    return { next: tidied(next, now), result: { buffered: taken, takenByOthers: [] } };
  }
  const takenByOthers = buffered.filter((event) => event.takenBy && event.expiresAt > now && accepts(event));
  const result = { takenByOthers: takenByOthers.map(({ eventId }) => eventId) };
  if (listed) return { next: seen, result };
  if (waiting.length >= MAX_WAITING || bytesOf([...waiting, wait]) > MAX_WAITING_BYTES)
    throw tooManyWait(address, waiting.length);
  return { next: tidied({ ...rest, waiting: [...waiting, wait], buffered }, now), result };
}

interface Leaving {
  readonly runId: string;
  /** Only this wait of the run; absent: all of them. */
  readonly waitId?: string | undefined;
  readonly hasReceived: (eventId: string) => boolean;
  /** Epoch ms. */
  readonly now: number;
}

/** Ids of the events that were given back while others are listed, and must now be passed on to them. */
export function removeWaits(seen: Mailbox | undefined, leaving: Leaving): Move<readonly string[]> {
  if (!seen) return { next: undefined, result: [] };
  const leaves = (wait: WaitRef) =>
    wait.runId === leaving.runId && (leaving.waitId === undefined || wait.waitId === leaving.waitId);
  const waiting = seen.waiting.filter((wait) => !leaves(wait));
  const hasOthers = waiting.length > 0;
  const events = seen.buffered.map((event) => afterLeaving(event, { ...leaving, leaves, hasOthers }));
  const changed =
    waiting.length < seen.waiting.length || events.some((event, i) => event !== seen.buffered[i]);
  const passOn = events.filter((event) => event.passing === 'giver' && !hasExpired(event, leaving.now));
  const over = events.filter(isOver);
  const next = {
    ...seen,
    waiting,
    buffered: events.filter((event) => !isOver(event)),
    delivered: [
      ...seen.delivered,
      ...over.map(({ eventId, deliveredTo }) => ({ eventId, at: leaving.now, deliveredTo })),
    ],
  };
  return {
    next: changed ? tidied(next, leaving.now) : seen,
    result: passOn.map(({ eventId }) => eventId),
  };
}

/** True if the event was received and nothing is pending. */
function isOver({ deliveredTo, takenBy, passing }: BufferedEvent): boolean {
  return deliveredTo.length > 0 && takenBy === undefined && passing === undefined;
}

interface AfterLeaving extends Leaving {
  readonly leaves: (wait: WaitRef) => boolean;
  /** True if other waits are listed. */
  readonly hasOthers: boolean;
}

/** The same object if the event does not concern the leaving wait. */
function afterLeaving(
  event: BufferedEvent,
  { runId, hasReceived, leaves, hasOthers }: AfterLeaving,
): BufferedEvent {
  const deliveredTo = hasReceived(event.eventId) ? withRuns(event.deliveredTo, [runId]) : event.deliveredTo;
  const { takenBy, passing } = event;
  const hasLeft = takenBy !== undefined && leaves(takenBy);
  // No wait is left to pass the event to; its sender handles a delivery under way.
  const stays = passing === 'giver' && !hasOthers;
  if (!hasLeft && !stays && deliveredTo === event.deliveredTo) return event;
  const givenBack = hasLeft && passing === undefined && deliveredTo.length === 0 && hasOthers;
  return {
    ...event,
    deliveredTo,
    passing: givenBack ? 'giver' : stays ? undefined : passing,
    takenBy: hasLeft ? undefined : takenBy,
  };
}

/** Bytes of an entry beside its ids: names of its two members, and ends of texts. */
const ENTRY_BYTES = 'runId'.length + 'waitId'.length + 4;

/** As Firestore counts it. */
function bytesOf(waits: readonly WaitRef[]): number {
  return waits.reduce(
    (sum, { runId, waitId }) => sum + Buffer.byteLength(runId) + Buffer.byteLength(waitId) + ENTRY_BYTES,
    0,
  );
}

function tooManyWait({ event, key }: MailboxAddress, waits: number): CairnError {
  return new CairnError(
    'RATE_LIMITED',
    `${waits} waits for event '${event}' with this key are open, the most allowed`,
    {
      details: { event, key, waits, limit: MAX_WAITING, maxBytes: MAX_WAITING_BYTES },
      help: 'Use a correlation key that fewer runs share.',
    },
  );
}
