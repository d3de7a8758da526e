/** The queue `firebase deploy` would create for a task-queue function, with its defaults. Pure. */
import { burstFor, DEFAULT_RATE_LIMITS, type QueueConfig } from '@cairn/local-tasks/model';
import type { FunctionSpec, QueueTrigger } from './function-spec.ts';

/** The defaults of the Firebase command line; fewer attempts than a bare queue's 100. */
const DEFAULTS = { maxAttempts: 3, minBackoffSeconds: 0.1, maxBackoffSeconds: 3600, maxDoublings: 16 };

export function queueOf(projectId: string, spec: FunctionSpec, trigger: QueueTrigger): QueueConfig {
  const { retry, rates } = trigger;
  const perSecond = rates.maxDispatchesPerSecond ?? DEFAULT_RATE_LIMITS.maxDispatchesPerSecond;
  return {
    name: `projects/${projectId}/locations/${spec.region}/queues/${spec.name}`,
    state: 'running',
    purgedAt: undefined,
    rateLimits: {
      maxDispatchesPerSecond: perSecond,
      maxBurstSize: burstFor(perSecond),
      maxConcurrentDispatches: rates.maxConcurrentDispatches ?? DEFAULT_RATE_LIMITS.maxConcurrentDispatches,
    },
    retry: {
      maxAttempts: retry.maxAttempts ?? DEFAULTS.maxAttempts,
      maxRetryDurationMs: (retry.maxRetrySeconds ?? 0) * 1000,
      minBackoffMs: (retry.minBackoffSeconds ?? DEFAULTS.minBackoffSeconds) * 1000,
      maxBackoffMs: (retry.maxBackoffSeconds ?? DEFAULTS.maxBackoffSeconds) * 1000,
      maxDoublings: retry.maxDoublings ?? DEFAULTS.maxDoublings,
    },
  };
}
