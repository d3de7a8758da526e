/**
 * Owns the decision whether and when a failed attempt is repeated.
 *
 * Must not: wait, read a clock or draw random numbers itself.
 */
import { CairnError, Fatal, RetryAt } from '../errors.ts';

export interface RetryPolicy {
  /** Attempts in all, the first included: 1 means no retry. */
  readonly maxAttempts: number;
  /** Upper bound of the delay after the first attempt, in ms. */
  readonly initialMs: number;
  /** By how much the bound grows from attempt to attempt. */
  readonly factor: number;
  /** What the bound never exceeds, in ms. */
  readonly capMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 3, initialMs: 1_000, factor: 2, capMs: 60_000 };

export type RetryDecision =
  | { readonly kind: 'retry' /** Epoch ms; in the past or present: at once. */; readonly at: number }
  | { readonly kind: 'give_up'; readonly reason: 'fatal' | 'attempts_exhausted' };

export interface FailedAttempt {
  readonly policy: RetryPolicy;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  /** Drawn uniformly from [0, 1). */
  readonly random: number;
  /** Epoch ms. */
  readonly now: number;
  /** What the attempt threw. */
  readonly error: unknown;
}

/**
 * Backoff with full jitter: the delay is uniform between 0 and the bound, since workers that failed together must not
 * come back together. `RetryAt` sets the time exactly, `Fatal` ends it; both count as attempts.
 */
export function nextRetry({ policy, attempt, random, now, error }: FailedAttempt): RetryDecision {
  if (error instanceof Fatal) return { kind: 'give_up', reason: 'fatal' };
  if (attempt >= policy.maxAttempts) return { kind: 'give_up', reason: 'attempts_exhausted' };
  if (error instanceof RetryAt) return { kind: 'retry', at: error.at };
  return { kind: 'retry', at: now + Math.floor(random * backoffBoundMs(policy, attempt)) };
}

/** The longest delay after the given attempt, in ms. */
export function backoffBoundMs(policy: RetryPolicy, attempt: number): number {
  // Asked first because 0 × ∞, reached after many attempts, is not a number.
  if (policy.initialMs === 0) return 0;
  return Math.min(policy.capMs, policy.initialMs * policy.factor ** (attempt - 1));
}

/**
 * A policy completed from the defaults.
 *
 * @throws CairnError INVALID_INPUT naming the member that makes no sense
 */
export function retryPolicy(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy = { ...DEFAULT_RETRY, ...given };
  check(
    'maxAttempts',
    Number.isSafeInteger(policy.maxAttempts) && policy.maxAttempts >= 1,
    'a whole number from 1',
  );
  check('initialMs', Number.isFinite(policy.initialMs) && policy.initialMs >= 0, 'a number of ms from 0');
  check('factor', Number.isFinite(policy.factor) && policy.factor >= 1, 'a number from 1');
  check('capMs', Number.isFinite(policy.capMs) && policy.capMs >= 0, 'a number of ms from 0');
  return policy;
}

function check(member: keyof RetryPolicy, holds: boolean, expected: string): void {
  if (holds) return;
  throw new CairnError('INVALID_INPUT', `retry.${member} must be ${expected}`, { field: `retry.${member}` });
}
