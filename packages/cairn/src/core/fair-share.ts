/**
 * Share of one of several users (tenants, callers, queues) in places that they all use. Each may hold three quarters of what the others
 * leave, so that some are free for the next one, however many places the first ones asked for. Pure.
 */

const SHARE = 0.75;

interface Places {
  readonly all: number;
  /** Held by the one that asks for another. */
  readonly own: number;
  /** Held by all others. */
  readonly others: number;
}

/** True if the one that asks may hold one place more. */
export function mayTakePlace({ all, own, others }: Places): boolean {
  const left = all - others;
  return own < left && own < Math.max(1, Math.floor(left * SHARE));
}
