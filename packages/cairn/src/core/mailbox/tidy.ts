/** Minimises an event mailbox: expired entries are removed, and an empty document is deleted. */

import { EVENT_TTL_MS, MAX_NAMED_RUNS, MAX_REMEMBERED } from './limits.ts';
import type { BufferedEvent, DeliveredEvent, Mailbox, MailboxAddress, WaitRef } from './mailbox.ts';

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
