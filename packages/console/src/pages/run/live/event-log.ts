/**
 * The loaded events of a run: its history from the first event, as far as it was loaded, and the events since the page was
 * opened. Pure. Bounded: a journal may be longer than a page should hold.
 */
import type { RunEvent } from './events.ts';

export interface EventLog {
  /** Ascending, without a gap, from seq 1. */
  readonly history: readonly RunEvent[];
  /** Ascending, without a gap, and not yet joined to the history. */
  readonly since: readonly RunEvent[];
}

export const EMPTY_LOG: EventLog = { history: [], since: [] };

/** Ten events for each of the 10,000 steps and items that a run may have: about 80 MB. */
export const MAX_EVENTS = 100_000;
/** Live events kept while the history before them is not loaded; further ones are read with the history. */
export const MAX_SINCE = 2_000;

/** Live events: appended to the history if they follow it, else apart. */
export function withLive(log: EventLog, events: readonly RunEvent[]): EventLog {
  const last = lastSeq(log.since) ?? 0;
  const news = events.filter(({ seq }) => seq > last);
  const since = isWhole(log.since, news[0]) ? [...log.since, ...news] : news;
  return withHistory({ history: log.history, since: since.length > MAX_SINCE ? [] : since }, events);
}

/** Seq of the last event of the history; 0 for none. */
export function reach({ history }: EventLog): number {
  return lastSeq(history) ?? 0;
}

export function isFull({ history }: EventLog): boolean {
  return history.length >= MAX_EVENTS;
}

/** Adds events read from the journal that follow the history without a gap. */
export function withHistory({ history, since }: EventLog, page: readonly RunEvent[]): EventLog {
  const whole = [...history];
  for (const events of [page, since])
    for (const event of events)
      if (event.seq === whole.length + 1 && whole.length < MAX_EVENTS) whole.push(event);
  const isJoined = (since[0]?.seq ?? Number.POSITIVE_INFINITY) <= whole.length + 1;
  const grown = whole.length > history.length ? whole : history;
  return { history: grown, since: isJoined || whole.length >= MAX_EVENTS ? [] : since };
}

function isWhole(since: readonly RunEvent[], next: RunEvent | undefined): boolean {
  return next === undefined || since.length === 0 || lastSeq(since) === next.seq - 1;
}

function lastSeq(events: readonly RunEvent[]): number | undefined {
  return events.at(-1)?.seq;
}
