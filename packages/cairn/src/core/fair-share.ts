/**
 * Share of a user (tenant, caller, queue) in common places. Each user may hold three quarters of the places that the others
 * leave, so that some stay free for the next user. Pure.
 */

const SHARE = 0.75;

interface Places {
  readonly all: number;
  /** Places held by the user who requests one. */
  readonly own: number;
  /** Places held by all others. */
  readonly others: number;
}

/** True if the user may hold one more place. */
export function mayTakePlace({ all, own, others }: Places): boolean {
  const left = all - others;
  return own < left && own < Math.max(1, Math.floor(left * SHARE));
}
