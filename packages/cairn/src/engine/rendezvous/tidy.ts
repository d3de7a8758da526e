/** Minimises an event mailbox: expired entries are removed, and an empty document is deleted. */
import type {
  DeliveredEvent,
  EarlyEvent,
  Rendezvous,
  RendezvousAddress,
  WaitRef,
} from '../../ports/rendezvous-store.ts';
import { EVENT_TTL_MS, MAX_NAMED_RUNS, MAX_REMEMBERED } from './limits.ts';

export function emptyAt({ tenantId, event, key }: RendezvousAddress): Rendezvous {
  return { tenantId, event, key, waiting: [], early: [], delivered: [] };
}

export function isSame(a: WaitRef, b: WaitRef): boolean {
  return a.runId === b.runId && a.waitId === b.waitId;
}

/** An event held by a wait is received or returned by it, regardless of its expiry. */
export function hasExpired({ takenBy, expiresAt }: EarlyEvent, now: number): boolean {
  return takenBy === undefined && expiresAt <= now;
}

/** The runs that took an event in, as far as they are remembered; the same list if there is nothing new in it. */
export function withRuns(takenIn: readonly string[], more: Iterable<string>): readonly string[] {
  const runIds = [...new Set([...takenIn, ...more])].slice(0, MAX_NAMED_RUNS);
  return runIds.length === takenIn.length ? takenIn : runIds;
}

/** The form in which it is written; undefined if there is nothing to write. */
export function tidied(rendezvous: Rendezvous, now: number): Rendezvous | undefined {
  const early = rendezvous.early.filter((event) => !hasExpired(event, now));
  const delivered = rendezvous.delivered.filter(({ at }) => at + EVENT_TTL_MS > now).slice(-MAX_REMEMBERED);
  const { expiresAt: _, ...rest } = rendezvous;
  if (rest.waiting.length + early.length + delivered.length === 0) return undefined;
  const expiresAt = lastNeeded(rest.waiting, early, delivered);
  return { ...rest, early, delivered, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

function lastNeeded(
  waiting: readonly WaitRef[],
  early: readonly EarlyEvent[],
  delivered: readonly DeliveredEvent[],
): number | undefined {
  if (waiting.length > 0 || early.some(({ takenBy }) => takenBy !== undefined)) return undefined;
  return Math.max(
    ...early.map(({ expiresAt }) => expiresAt),
    ...delivered.map(({ at }) => at + EVENT_TTL_MS),
  );
}
