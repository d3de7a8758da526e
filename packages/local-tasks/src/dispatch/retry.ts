/** Decides whether and when a failed task is retried, by the rules of the Cloud Tasks reference. Pure. */
import type { RetryConfig } from '../model.ts';

type TaskRetryDecision = { readonly kind: 'retry'; readonly atMs: number } | { readonly kind: 'give-up' };

interface FailedTask {
  /** Attempts made so far, the failed one included; at least 1. */
  readonly attempts: number;
  readonly firstAttemptAt: number;
  readonly now: number;
  /** Start of the pause: the time of the failure, or of the RunTask call that ran the task. */
  readonly pauseFrom: number;
  /** Delay requested by the target with `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Pause after the n-th failed attempt (n from 1): doubles `maxDoublings` times from `minBackoff`, then grows linearly, up to
 * `maxBackoff`.
 */
export function backoffMs(config: RetryConfig, failedAttempts: number): number {
  // Avoids NaN: the factor becomes infinite after 1,023 doublings.
  if (config.minBackoffMs === 0) return 0;
  const step = Math.max(0, failedAttempts - 1);
  const doublings = Math.min(step, config.maxDoublings);
  const doubled = config.minBackoffMs * 2 ** doublings;
  const linear = step > config.maxDoublings ? (step - config.maxDoublings) * doubled : 0;
  return Math.min(doubled + linear, config.maxBackoffMs);
}

/**
 * Gives up a task once all configured limits are reached; of two limits, the later one decides. Without a limit it is
 * retried forever.
 */
export function afterFailure(config: RetryConfig, failed: FailedTask): TaskRetryDecision {
  const attemptsLimited = config.maxAttempts !== -1;
  const durationLimited = config.maxRetryDurationMs > 0;
  const attemptsSpent = !attemptsLimited || failed.attempts >= config.maxAttempts;
  const durationSpent = !durationLimited || failed.now - failed.firstAttemptAt >= config.maxRetryDurationMs;
  if ((attemptsLimited || durationLimited) && attemptsSpent && durationSpent) return { kind: 'give-up' };
  const afterPause = failed.pauseFrom + backoffMs(config, failed.attempts);
  return { kind: 'retry', atMs: Math.max(afterPause, failed.now + (failed.retryAfterMs ?? 0)) };
}
