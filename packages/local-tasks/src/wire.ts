/** Between protobuf messages and the model: timestamps, durations, tasks and queues. No state, no rules. */
import type { AttemptRecord, QueueConfig, TaskRecord } from './model.ts';
import { HTTP_METHODS } from './model.ts';

/** An int64 from protobufjs: a number below 2^53 or a Long. */
export type Int64 = number | { toNumber(): number };

export interface WireTimestamp {
  readonly seconds?: Int64 | null;
  readonly nanos?: number | null;
}

export const integer = (value: Int64 | null | undefined) =>
  typeof value === 'number' ? value : (value?.toNumber() ?? 0);

/** Milliseconds of a Timestamp or a Duration. */
export const toMs = (value: WireTimestamp) => integer(value.seconds) * 1000 + (value.nanos ?? 0) / 1e6;

/** A Timestamp or Duration in milliseconds, cut to microseconds as in production. */
export function fromMs(ms: number): { seconds: number; nanos: number } {
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1e6);
  return { seconds, nanos: (micros - seconds * 1e6) * 1000 };
}

const RUNNING = 1;
const PAUSED = 2;

export function toWireQueue(queue: QueueConfig): object {
  const { rateLimits, retry } = queue;
  return {
    name: queue.name,
    rateLimits: { ...rateLimits },
    retryConfig: {
      maxAttempts: retry.maxAttempts,
      ...(retry.maxRetryDurationMs > 0 && { maxRetryDuration: fromMs(retry.maxRetryDurationMs) }),
      minBackoff: fromMs(retry.minBackoffMs),
      maxBackoff: fromMs(retry.maxBackoffMs),
      maxDoublings: retry.maxDoublings,
    },
    state: queue.state === 'paused' ? PAUSED : RUNNING,
    ...(queue.purgedAt !== undefined && { purgeTime: fromMs(queue.purgedAt) }),
  };
}

const BASIC = 1;
export const FULL = 2;

/** The basic view leaves out the body, which may be large or secret. */
export function toWireTask(task: TaskRecord, view: number): object {
  const { target, progress } = task;
  const full = view === FULL;
  const { oidc } = target;
  return {
    name: task.name,
    httpRequest: {
      url: target.url,
      httpMethod: HTTP_METHODS.indexOf(target.method),
      headers: target.headers,
      ...(full && { body: target.body }),
      ...(oidc && { oidcToken: { serviceAccountEmail: oidc.serviceAccountEmail, audience: oidc.audience } }),
    },
    scheduleTime: fromMs(task.scheduledAt),
    createTime: fromMs(Math.floor(task.createdAt / 1000) * 1000),
    dispatchDeadline: fromMs(task.deadlineMs),
    dispatchCount: progress.dispatchCount,
    responseCount: progress.responseCount,
    ...(progress.first && { firstAttempt: { dispatchTime: fromMs(progress.first.dispatchedAt) } }),
    ...(progress.last && { lastAttempt: toWireAttempt(progress.last) }),
    view: full ? FULL : BASIC,
  };
}

function toWireAttempt(attempt: AttemptRecord): object {
  return {
    scheduleTime: fromMs(attempt.scheduledAt),
    dispatchTime: fromMs(attempt.dispatchedAt),
    ...(attempt.respondedAt !== undefined && { responseTime: fromMs(attempt.respondedAt) }),
    responseStatus: { code: attempt.code, message: attempt.message },
  };
}
