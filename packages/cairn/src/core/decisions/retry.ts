/**
 * Decides whether and when a failed attempt is repeated.
 *
 * Must not: wait, read a clock or draw random numbers itself.
 */
import { Fatal, invalidInput, RetryAt } from '../errors.ts';

/** Delays that grow from attempt to attempt. */
export interface Backoff {
  /** Upper bound of the delay after the first attempt, in ms. */
  readonly initialMs: number;
  /** Growth factor of the bound from attempt to attempt. */
  readonly factor: number;
  /** Maximum of the bound, in ms. */
  readonly capMs: number;
}

export interface RetryPolicy extends Backoff {
  /** Attempts in all, the first included: 1 means no retry. */
  readonly maxAttempts: number;
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 3, initialMs: 1_000, factor: 2, capMs: 60_000 };

/** `at`: epoch ms; now or in the past: immediately. */
export type RetryDecision =
  | { readonly kind: 'retry'; readonly at: number }
  | { readonly kind: 'give_up'; readonly reason: 'fatal' | 'attempts_exhausted' };

/** The condition that the step polls does not hold yet: no attempt failed. `at`: epoch ms. */
export type PollDecision =
  | { readonly kind: 'poll_again'; readonly at: number }
  | { readonly kind: 'give_up'; readonly reason: 'poll_over' };

/** Polling of a step: `RetryAt` means "not yet", until this many ms after the step began. */
export interface PollPolicy {
  readonly withinMs: number;
}

/**
 * Minimum delay between polls. Each poll adds an event to the journal and `maxAttempts` does not limit them, so a time in the
 * past must not mean "immediately".
 */
export const MIN_POLL_MS = 1_000;
/** Maximum of polls of one execution; with the journal's other events this stays far below the limit of a run. */
export const MAX_POLLS = 10_000;

interface FailedAttempt {
  readonly policy: RetryPolicy;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  /** Drawn uniformly from [0, 1). */
  readonly random: number;
  /** Epoch ms. */
  readonly now: number;
  /** The thrown value. */
  readonly error: unknown;
  /** Earlier polls whose condition did not hold. */
  readonly polls?: number | undefined;
}

/** An attempt of a step that polls, which found its condition not to hold. */
interface PollAttempt {
  readonly poll: PollPolicy;
  readonly now: number;
  readonly error: RetryAt;
  readonly polls?: number | undefined;
  /** When the first attempt of the execution began, epoch ms. */
  readonly startedAt: number;
}

/**
 * Backoff with full jitter: the delay is uniform between 0 and the bound, so that workers that failed together do not retry
 * together. `RetryAt` sets the time exactly, `Fatal` ends it; both count as attempts.
 */
export function nextRetry({ policy, attempt, random, now, error, polls = 0 }: FailedAttempt): RetryDecision {
  if (error instanceof Fatal) return { kind: 'give_up', reason: 'fatal' };
  const failures = attempt - polls;
  if (failures >= policy.maxAttempts) return { kind: 'give_up', reason: 'attempts_exhausted' };
  if (error instanceof RetryAt) return { kind: 'retry', at: error.at };
  return { kind: 'retry', at: now + Math.floor(random * backoffBoundMs(policy, failures)) };
}

/** Decision after a poll whose condition does not hold yet. The last poll is not before the end of `withinMs`. */
export function nextPoll({ poll, startedAt, now, error, polls = 0 }: PollAttempt): PollDecision {
  const endsAt = startedAt + poll.withinMs;
  if (now >= endsAt || polls + 1 >= MAX_POLLS) return { kind: 'give_up', reason: 'poll_over' };
  return { kind: 'poll_again', at: Math.max(now + MIN_POLL_MS, Math.min(error.at, endsAt)) };
}

/** The longest delay after the given attempt, in ms. */
export function backoffBoundMs(policy: Backoff, attempt: number): number {
  // Without this check the product is 0 × ∞ (NaN) after many attempts.
  if (policy.initialMs === 0) return 0;
  return Math.min(policy.capMs, policy.initialMs * policy.factor ** (attempt - 1));
}

/**
 * A delay between half the bound and the bound, ms, so that attempts that began together do not repeat together. @param random
 * from [0, 1)
 */
export function halfJitterMs(boundMs: number, random: number): number {
  return boundMs * (0.5 + random / 2);
}

/**
 * A policy completed from the defaults.
 *
 * @param option that gives the policy
 * @throws CairnError INVALID_INPUT naming the option and its invalid member
 */
export function retryPolicy(given: Partial<RetryPolicy> = {}, option = 'retry'): RetryPolicy {
  const policy = { ...DEFAULT_RETRY, ...given };
  const check = (member: keyof RetryPolicy, isValid: boolean, expected: string) => {
    if (!isValid) throw invalidInput(`${option}.${member}`, `${option}.${member} must be ${expected}`);
  };
  check(
    'maxAttempts',
    Number.isSafeInteger(policy.maxAttempts) && policy.maxAttempts >= 1,
    'an integer of at least 1',
  );
  check(
    'initialMs',
    Number.isFinite(policy.initialMs) && policy.initialMs >= 0,
    'a number of milliseconds, 0 or more',
  );
  check('factor', Number.isFinite(policy.factor) && policy.factor >= 1, 'a number of at least 1');
  check('capMs', Number.isFinite(policy.capMs) && policy.capMs >= 0, 'a number of milliseconds, 0 or more');
  return policy;
}
