/** Minimises an event mailbox: expired entries are removed, and an empty document is deleted. */

import { EVENT_TTL_MS, MAX_NAMED_RUNS, MAX_REMEMBERED } from './limits.ts';
import type { BufferedEvent, DeliveredEvent, Mailbox, MailboxAddress, Move, WaitRef } from './mailbox.ts';

export function emptyAt({ tenantId, event, key }: MailboxAddress): Mailbox {
  return { tenantId, event, key, waiting: [], buffered: [], delivered: [] };
}

export function isSameWait(a: WaitRef, b: WaitRef): boolean {
  return a.runId === b.runId && a.waitId === b.waitId;
}

/** An event held by a wait is received or returned by it, regardless of its expiry. */
export function hasExpired({ takenBy, expiresAt }: BufferedEvent, now: number): boolean {
  return takenBy === undefined && expiresAt <= now;
}

/** The runs that received an event, up to a limit; the same list if it does not change. */
export function withRuns(deliveredTo: readonly string[], more: Iterable<string>): readonly string[] {
  const runIds = [...new Set([...deliveredTo, ...more])].slice(0, MAX_NAMED_RUNS);
  return runIds.length === deliveredTo.length ? deliveredTo : runIds;
}

/** The form in which it is written; undefined if there is nothing to write. */
export function tidied(mailbox: Mailbox, now: number): Mailbox | undefined {
  const buffered = mailbox.buffered.filter((event) => !hasExpired(event, now));
  const delivered = mailbox.delivered.filter(({ at }) => at + EVENT_TTL_MS > now).slice(-MAX_REMEMBERED);
  const { waiting } = mailbox;
  if (waiting.length + buffered.length + delivered.length === 0) return undefined;
  return { ...mailbox, buffered, delivered, expiresAt: lastNeeded(waiting, buffered, delivered) };
}

/**
 * Removes the events that came until then, for an erasure. Waits are kept: their runs still exist, as do those that hold an event.
 *
 * @param until epoch ms
 * @returns whether anything was removed
 */
export function erasedUntil(seen: Mailbox | undefined, until: number): Move<boolean> {
  if (!seen) return { next: undefined, result: false };
  const { waiting } = seen;
  const buffered = seen.buffered.filter(({ at, takenBy }) => at > until || takenBy !== undefined);
  const delivered = seen.delivered.filter(({ at }) => at > until);
  if (waiting.length + buffered.length + delivered.length === 0) return { next: undefined, result: true };
  if (buffered.length === seen.buffered.length && delivered.length === seen.delivered.length)
    return { next: seen, result: false };
  const expiresAt = lastNeeded(waiting, buffered, delivered);
  return { next: { ...seen, buffered, delivered, expiresAt }, result: true };
}

function lastNeeded(
  waiting: readonly WaitRef[],
  buffered: readonly BufferedEvent[],
  delivered: readonly DeliveredEvent[],
): number | undefined {
  if (waiting.length > 0 || buffered.some(({ takenBy }) => takenBy !== undefined)) return undefined;
  return Math.max(
    ...buffered.map(({ expiresAt }) => expiresAt),
    ...delivered.map(({ at }) => at + EVENT_TTL_MS),
  );
}
