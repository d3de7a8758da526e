/**
 * Validates Cloud Tasks requests: converts messages to model values or throws INVALID_ARGUMENT naming the field. Pure;
 * takes the time and a new task id.
 */
import { isDuration, isTime, toMs, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid } from './errors.ts';
import { httpTargetFrom, type WireHttpTarget } from './http-target/wire.ts';
import {
  burstFor,
  DEFAULT_RATE_LIMITS,
  DEFAULT_RETRY,
  LIMITS,
  NO_PROGRESS,
  type QueueConfig,
  type RateLimits,
  type RetryConfig,
  type TaskRecord,
  type TaskTarget,
} from './model.ts';
import { requireQueue, requireTask } from './names.ts';
import { routingFrom, targetFrom, type WireRouting, type WireTarget } from './target.ts';

export interface WireTask extends WireTarget {
  readonly name?: string | null;
  readonly scheduleTime?: WireTimestamp | null;
  readonly dispatchDeadline?: WireTimestamp | null;
}

export interface WireQueue {
  readonly name?: string | null;
  readonly appEngineRoutingOverride?: WireRouting | null;
  readonly rateLimits?: {
    maxDispatchesPerSecond?: number | null;
    maxConcurrentDispatches?: number | null;
  } | null;
  readonly retryConfig?: {
    maxAttempts?: number | null;
    maxRetryDuration?: WireTimestamp | null;
    minBackoff?: WireTimestamp | null;
    maxBackoff?: WireTimestamp | null;
    maxDoublings?: number | null;
  } | null;
  readonly stackdriverLoggingConfig?: { samplingRatio?: number | null } | null;
  /** Beta versions only, like the following members. */
  readonly httpTarget?: WireHttpTarget | null;
  readonly taskTtl?: WireTimestamp | null;
  readonly tombstoneTtl?: WireTimestamp | null;
}

/** Members of a queue that a caller can set. */
type QueueSettings = Pick<
  QueueConfig,
  'rateLimits' | 'retry' | 'loggedRatio' | 'appEngineRouting' | 'httpTarget' | 'taskTtlMs' | 'tombstoneTtlMs'
>;

interface NewTask {
  readonly parent: string;
  readonly task: WireTask | null | undefined;
  readonly now: number;
  /** Id of an unnamed task: decimal digits, as in Cloud Tasks. */
  readonly freshId: () => string;
  /** True if there is an app for App Engine tasks. */
  readonly hasAppEngine: boolean;
}

export function taskFrom({ parent, task, now, freshId, hasAppEngine }: NewTask): TaskRecord {
  const queue = requireQueue(parent);
  if (!task) throw invalid('Task is required.');
  const named = Boolean(task.name);
  const name = named ? requireTask(String(task.name)) : { name: `${queue}/tasks/${freshId()}`, queue };
  if (name.queue !== queue) {
    throw invalid(
      `The queue name from request ('${queue}') must be the same as the queue name in the named task ('${name.queue}').`,
    );
  }
  const target = targetFrom(task, hasAppEngine);
  // A past time means now; the task then reports its time of creation.
  const wanted = task.scheduleTime ? timeFrom('Task.schedule_time', task.scheduleTime) : now;
  if (wanted > now + LIMITS.scheduleAheadMs) {
    throw invalid(
      `The Task.scheduleTime, ${new Date(wanted).toISOString()}, is too far in the future. Schedule time must be no more than 720h in the future.`,
    );
  }
  return {
    name: name.name,
    queue,
    named,
    createdAt: now,
    scheduledAt: Math.max(wanted, now),
    deadlineMs: deadlineFrom(task.dispatchDeadline, target),
    target,
    progress: NO_PROGRESS,
  };
}

function timeFrom(field: string, value: WireTimestamp): number {
  if (!isTime(value)) throw invalid(`${field} is not a valid time.`);
  return toMs(value);
}

function durationFrom(field: string, value: WireTimestamp): number {
  if (!isDuration(value)) throw invalid(`${field} is not a valid duration.`);
  return toMs(value);
}

function deadlineFrom(duration: WireTimestamp | null | undefined, { appEngine }: TaskTarget): number {
  if (!duration) return LIMITS.defaultDeadlineMs;
  const ms = durationFrom('Task.dispatch_deadline', duration);
  const most = appEngine ? LIMITS.maxAppEngineDeadlineMs : LIMITS.maxDeadlineMs;
  if (ms < LIMITS.minDeadlineMs || ms > most) {
    throw invalid(`Task.dispatchDeadline must be between [15s, ${appEngine ? '24h15s' : '30m'}].`);
  }
  return ms;
}

/** The configuration of a new queue, with the defaults of Cloud Tasks. */
export function queueFrom(name: string, queue: WireQueue): QueueConfig {
  requireQueue(name);
  return {
    name,
    ...settingsFrom(queue),
    state: 'running',
    purgedAt: undefined,
  };
}

/** @throws GrpcRefusal INVALID_ARGUMENT for settings that Cloud Tasks does not allow */
export function settingsFrom(wire: Omit<WireQueue, 'name'>): QueueSettings {
  const logging = wire.stackdriverLoggingConfig;
  const routing = wire.appEngineRoutingOverride;
  const { httpTarget } = wire;
  return {
    rateLimits: rateLimitsFrom(wire.rateLimits),
    retry: retryFrom(wire.retryConfig),
    loggedRatio: logging ? ratioFrom(logging.samplingRatio ?? 0) : undefined,
    appEngineRouting: routing ? routingFrom(routing) : undefined,
    httpTarget: httpTarget ? httpTargetFrom(httpTarget) : undefined,
    taskTtlMs: ttlFrom('task_ttl', wire.taskTtl, [LIMITS.minTaskTtlMs, LIMITS.maxTaskTtlMs]),
    tombstoneTtlMs: ttlFrom('tombstone_ttl', wire.tombstoneTtl, [
      LIMITS.minTombstoneTtlMs,
      LIMITS.maxTombstoneTtlMs,
    ]),
  };
}

function ttlFrom(
  field: string,
  wire: WireTimestamp | null | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (!wire) return undefined;
  const ms = durationFrom(`Queue.${field}`, wire);
  if (ms >= least && ms <= most) return ms;
  throw invalid(`Queue.${field} must be between [${least / 1000}s, ${most / 1000}s].`);
}

function ratioFrom(ratio: number): number {
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw invalid('StackdriverLoggingConfig.sampling_ratio must be in [0, 1].');
}

function rateLimitsFrom(wire: WireQueue['rateLimits']): RateLimits {
  const perSecond = wire?.maxDispatchesPerSecond || DEFAULT_RATE_LIMITS.maxDispatchesPerSecond;
  const concurrent = wire?.maxConcurrentDispatches || DEFAULT_RATE_LIMITS.maxConcurrentDispatches;
  requireWithin('maxDispatchesPerSecond', perSecond, LIMITS.dispatchesPerSecond);
  requireWithin('maxConcurrentDispatches', concurrent, LIMITS.concurrentDispatches);
  return {
    maxDispatchesPerSecond: perSecond,
    maxBurstSize: burstFor(perSecond),
    maxConcurrentDispatches: concurrent,
  };
}

function requireWithin(field: string, value: number, most: number): void {
  if (value < 0) throw invalid(`RateLimits.${field} cannot be negative.`);
  if (!(value <= most)) throw invalid(`RateLimits.${field} must be less than or equal to ${most}.`);
}

function retryFrom(wire: WireQueue['retryConfig']): RetryConfig {
  const duration = (field: string, value: WireTimestamp | null | undefined) =>
    value ? durationFrom(`RetryConfig.${field}`, value) : undefined;
  const retry = {
    maxAttempts: wire?.maxAttempts || DEFAULT_RETRY.maxAttempts,
    maxRetryDurationMs: duration('max_retry_duration', wire?.maxRetryDuration) ?? 0,
    minBackoffMs: duration('min_backoff', wire?.minBackoff) ?? DEFAULT_RETRY.minBackoffMs,
    maxBackoffMs: duration('max_backoff', wire?.maxBackoff) ?? DEFAULT_RETRY.maxBackoffMs,
    maxDoublings: wire?.maxDoublings || DEFAULT_RETRY.maxDoublings,
  };
  if (retry.maxAttempts < -1) throw invalid('RetryConfig.maxAttempts must be greater or equal to -1.');
  if (retry.maxRetryDurationMs < 0) throw invalid('RetryConfig.maxRetryDuration cannot be negative.');
  if (retry.minBackoffMs < 0) throw invalid('RetryConfig.minBackoff cannot be negative.');
  if (retry.maxBackoffMs < retry.minBackoffMs) {
    throw invalid('RetryConfig.minBackoff must be less than or equal to RetryConfig.maxBackoff.');
  }
  if (retry.maxDoublings < 0) throw invalid('RetryConfig.maxDoublings cannot be negative.');
  return retry;
}
