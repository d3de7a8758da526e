/**
 * Validates Cloud Tasks requests: converts messages to model values or throws INVALID_ARGUMENT naming the field. Pure;
 * takes the time and a new task id.
 */
import { isDuration, isTime, toMs, type WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { invalid, unimplemented } from './errors.ts';
import {
  burstFor,
  DEFAULT_RATE_LIMITS,
  DEFAULT_RETRY,
  HTTP_METHODS,
  type HttpTarget,
  LIMITS,
  NO_PROGRESS,
  type QueueConfig,
  type RateLimits,
  type RetryConfig,
  type TaskRecord,
} from './model.ts';
import { requireQueue, requireTask } from './names.ts';

export interface WireTask {
  readonly name?: string | null;
  readonly appEngineHttpRequest?: object | null;
  readonly httpRequest?: {
    readonly url?: string | null;
    readonly httpMethod?: number | null;
    readonly headers?: Record<string, string> | null;
    readonly body?: Uint8Array | null;
    readonly oauthToken?: object | null;
    readonly oidcToken?: { serviceAccountEmail?: string | null; audience?: string | null } | null;
  } | null;
  readonly scheduleTime?: WireTimestamp | null;
  readonly dispatchDeadline?: WireTimestamp | null;
}

export interface WireQueue {
  readonly name?: string | null;
  readonly appEngineRoutingOverride?: object | null;
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
}

interface NewTask {
  readonly parent: string;
  readonly task: WireTask | null | undefined;
  readonly now: number;
  /** Id of an unnamed task: decimal digits, as in Cloud Tasks. */
  readonly freshId: () => string;
}

export function taskFrom({ parent, task, now, freshId }: NewTask): TaskRecord {
  const queue = requireQueue(parent);
  if (!task) throw invalid('Task is required.');
  const named = Boolean(task.name);
  const name = named ? requireTask(String(task.name)) : { name: `${queue}/tasks/${freshId()}`, queue };
  if (name.queue !== queue) {
    throw invalid(
      `The queue name from request ('${queue}') must be the same as the queue name of the task ('${name.queue}').`,
    );
  }
  const target = targetFrom(task);
  // A time in the past means now, and the task reports its time of creation.
  const wanted = task.scheduleTime ? timeFrom('Task.schedule_time', task.scheduleTime) : now;
  if (wanted > now + LIMITS.scheduleAheadMs) {
    throw invalid('Task.schedule_time must be at most 30 days (720 hours) in the future.');
  }
  return {
    name: name.name,
    queue,
    named,
    createdAt: now,
    scheduledAt: Math.max(wanted, now),
    deadlineMs: deadlineFrom(task.dispatchDeadline),
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

function deadlineFrom(duration: WireTimestamp | null | undefined): number {
  if (!duration) return LIMITS.defaultDeadlineMs;
  const ms = durationFrom('Task.dispatch_deadline', duration);
  if (ms < LIMITS.minDeadlineMs || ms > LIMITS.maxDeadlineMs) {
    throw invalid('Task.dispatch_deadline must be between [15s, 30m] for HTTP tasks.');
  }
  return ms;
}

function targetFrom(task: WireTask): HttpTarget {
  if (task.appEngineHttpRequest) throw unimplemented('Task.app_engine_http_request');
  const http = task.httpRequest;
  if (!http) throw invalid('Task.payload_type must be set: one of app_engine_http_request, http_request.');
  if (http.oauthToken) throw unimplemented('HttpRequest.oauth_token');
  const url = http.url ?? '';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw invalid("HttpRequest.url must start with 'http://' or 'https://' and be a valid URL.");
  }
  if (new URL(url).href.length > LIMITS.urlLength)
    throw invalid(`HttpRequest.url is longer than ${LIMITS.urlLength} characters after encoding.`);
  const method = http.httpMethod ? HTTP_METHODS[http.httpMethod] : 'POST';
  if (method === undefined) throw invalid(`HttpRequest.http_method ${http.httpMethod} is unknown.`);
  // protobufjs gives an empty array instead of empty bytes for an absent field.
  const body = http.body?.length ? http.body : new Uint8Array();
  if (body.length > 0 && !['POST', 'PUT', 'PATCH'].includes(method)) {
    throw invalid(`HttpRequest.body is only allowed for POST, PUT and PATCH, not for ${method}.`);
  }
  const headers = { ...http.headers };
  checkHeaders(headers);
  const bytes = body.length + Buffer.byteLength(url) + headerBytes(headers);
  if (bytes > LIMITS.taskBytes) {
    throw invalid(`Task size too large: it has ${bytes} bytes, a task may have ${LIMITS.taskBytes}.`);
  }
  const token = http.oidcToken;
  if (token && !token.serviceAccountEmail) {
    throw invalid('HttpRequest.oidc_token.service_account_email must be set.');
  }
  const oidc = token
    ? { serviceAccountEmail: String(token.serviceAccountEmail), audience: token.audience || url }
    : undefined;
  return { url, method, headers, body, oidc };
}

function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw invalid(`HttpRequest.headers: '${name}' is not a valid header.`);
    }
  }
  if (headerBytes(headers) > LIMITS.headerBytes) throw invalid('HttpRequest.headers exceed 80 KB.');
}

function headerBytes(headers: Record<string, string>): number {
  const parts = Object.entries(headers).flat();
  return parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0);
}

/** The configuration of a new queue, with the defaults of Cloud Tasks. */
export function queueFrom(name: string, queue: WireQueue): QueueConfig {
  requireQueue(name);
  if (queue.appEngineRoutingOverride) throw unimplemented('Queue.app_engine_routing_override');
  return {
    name,
    ...settingsFrom(queue),
    state: 'running',
    purgedAt: undefined,
  };
}

/** @throws GrpcRefusal INVALID_ARGUMENT for settings that Cloud Tasks does not allow */
export function settingsFrom(
  wire: Pick<WireQueue, 'rateLimits' | 'retryConfig' | 'stackdriverLoggingConfig'>,
): Pick<QueueConfig, 'rateLimits' | 'retry' | 'loggedRatio'> {
  const logging = wire.stackdriverLoggingConfig;
  return {
    rateLimits: rateLimitsFrom(wire.rateLimits),
    retry: retryFrom(wire.retryConfig),
    loggedRatio: logging ? ratioFrom(logging.samplingRatio ?? 0) : undefined,
  };
}

function ratioFrom(ratio: number): number {
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw invalid('StackdriverLoggingConfig.sampling_ratio must be in [0, 1].');
}

function rateLimitsFrom(wire: WireQueue['rateLimits']): RateLimits {
  const perSecond = wire?.maxDispatchesPerSecond || DEFAULT_RATE_LIMITS.maxDispatchesPerSecond;
  const concurrent = wire?.maxConcurrentDispatches || DEFAULT_RATE_LIMITS.maxConcurrentDispatches;
  if (!(perSecond > 0 && perSecond <= LIMITS.dispatchesPerSecond)) {
    throw invalid(`RateLimits.max_dispatches_per_second must be in (0, ${LIMITS.dispatchesPerSecond}].`);
  }
  if (!(concurrent > 0 && concurrent <= LIMITS.concurrentDispatches)) {
    throw invalid(`RateLimits.max_concurrent_dispatches must be in [1, ${LIMITS.concurrentDispatches}].`);
  }
  return {
    maxDispatchesPerSecond: perSecond,
    maxBurstSize: burstFor(perSecond),
    maxConcurrentDispatches: concurrent,
  };
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
  if (retry.maxAttempts < -1) throw invalid('RetryConfig.max_attempts must be greater than or equal to -1.');
  if (retry.maxRetryDurationMs < 0) throw invalid('RetryConfig.max_retry_duration must not be negative.');
  if (retry.minBackoffMs < 0) throw invalid('RetryConfig.min_backoff must not be negative.');
  if (retry.maxBackoffMs < retry.minBackoffMs) {
    throw invalid('RetryConfig.min_backoff must be less than or equal to RetryConfig.max_backoff.');
  }
  if (retry.maxDoublings < 0) throw invalid('RetryConfig.max_doublings must not be negative.');
  return retry;
}
