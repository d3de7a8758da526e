/** Delay of a message after a failed delivery. Pure. */
import type { SubscriptionConfig } from './resources.ts';

/** Backoff in production for push without a retry policy; pull without one redelivers at once. */
const PUSH_BACKOFF = { minBackoffMs: 100, maxBackoffMs: 60_000 };

/** The pause before the next delivery after `failures` failed ones (from 1): it doubles up to the policy's maximum. */
export function redeliveryPauseMs(
  { retry, push }: Pick<SubscriptionConfig, 'retry' | 'push'>,
  failures: number,
): number {
  const policy = retry ?? (push ? PUSH_BACKOFF : undefined);
  if (policy === undefined || policy.minBackoffMs === 0) return 0;
  // The exponent is limited, because the factor becomes infinite after a thousand doublings; 2^40 exceeds every maximum.
  return Math.min(policy.minBackoffMs * 2 ** Math.min(40, failures - 1), policy.maxBackoffMs);
}
