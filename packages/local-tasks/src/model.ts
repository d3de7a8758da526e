/**
 * Model of queues and tasks in plain values: no protobuf, no SQL. Times are milliseconds since the epoch, durations
 * milliseconds. Defaults and limits are those that Cloud Tasks documents for v2.
 */
import type { HttpTarget } from './http-target/model.ts';

export interface RateLimits {
  readonly maxDispatchesPerSecond: number;
  readonly maxBurstSize: number;
  readonly maxConcurrentDispatches: number;
}

export interface RetryConfig {
  /** -1: no limit. */
  readonly maxAttempts: number;
  /** 0: no limit. */
  readonly maxRetryDurationMs: number;
  readonly minBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly maxDoublings: number;
}

export interface QueueConfig {
  /** `projects/{p}/locations/{l}/queues/{q}` */
  readonly name: string;
  readonly rateLimits: RateLimits;
  readonly retry: RetryConfig;
  /** Share of operations that production logs; undefined: none. Returned to the caller, but nothing is logged here. */
  readonly loggedRatio?: number | undefined;
  /** Overrides the routing of the queue's App Engine tasks. */
  readonly appEngineRouting?: AppEngineRouting | undefined;
  /** Overrides the target of the queue's HTTP tasks. */
  readonly httpTarget?: HttpTarget | undefined;
  /** Age at which a task is deleted; undefined: `LIMITS.taskLifeMs`. */
  readonly taskTtlMs?: number | undefined;
  /** Time the name of a completed task stays taken; undefined: `LIMITS.dedupMs`. */
  readonly tombstoneTtlMs?: number | undefined;
  readonly state: 'running' | 'paused';
  readonly purgedAt: number | undefined;
}

/** Part of an App Engine app; without members: the default service, version and instance. */
export interface AppEngineRouting {
  readonly service?: string;
  readonly version?: string;
  readonly instance?: string;
}

export interface TaskTarget {
  /** A relative URI if the task is for App Engine. */
  readonly url: string;
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly oidc?: { readonly serviceAccountEmail: string; readonly audience: string } | undefined;
  readonly oauth?: { readonly serviceAccountEmail: string; readonly scope: string } | undefined;
  /** Set if the task is for App Engine. */
  readonly appEngine?: AppEngineRouting | undefined;
}

/** In the order of the protocol's enum, so that an index is the wire value (0 is "unspecified": POST). */
export const HTTP_METHODS = [undefined, 'POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;
export type HttpMethod = Exclude<(typeof HTTP_METHODS)[number], undefined>;
/** Methods whose request may have a body. */
export const METHODS_WITH_BODY: readonly HttpMethod[] = ['POST', 'PUT', 'PATCH'];
/** Methods of App Engine tasks whose request may have a body. */
export const APP_ENGINE_METHODS_WITH_BODY: readonly HttpMethod[] = ['POST', 'PUT'];

export interface AttemptStart {
  readonly scheduledAt: number;
  readonly dispatchedAt: number;
}

/** Result of one dispatch. */
export interface AttemptRecord extends AttemptStart {
  readonly respondedAt: number | undefined;
  /** A `google.rpc.Code`; undefined while the attempt runs. */
  readonly code: number | undefined;
  readonly message: string;
}

/** The mutable part of a task, replaced as a whole after each attempt. */
export interface TaskProgress {
  readonly dispatchCount: number;
  readonly responseCount: number;
  /** Responses other than 5XX, for `X-CloudTasks-TaskExecutionCount`. */
  readonly executionCount: number;
  readonly first: AttemptRecord | undefined;
  readonly last: AttemptRecord | undefined;
  /** HTTP status of the last attempt; undefined if it had no answer. */
  readonly previousResponse: number | undefined;
}

export interface TaskRecord {
  /** `{queue name}/tasks/{task id}` */
  readonly name: string;
  readonly queue: string;
  /** True if the caller chose the id. Only such names stay reserved after the task. */
  readonly named: boolean;
  readonly createdAt: number;
  readonly scheduledAt: number;
  readonly deadlineMs: number;
  readonly target: TaskTarget;
  readonly progress: TaskProgress;
}

export const NO_PROGRESS: TaskProgress = {
  dispatchCount: 0,
  responseCount: 0,
  executionCount: 0,
  first: undefined,
  last: undefined,
  previousResponse: undefined,
};

export const DEFAULT_RATE_LIMITS = { maxDispatchesPerSecond: 500, maxConcurrentDispatches: 1000 };

export const DEFAULT_RETRY: RetryConfig = {
  maxAttempts: 100,
  maxRetryDurationMs: 0,
  minBackoffMs: 100,
  maxBackoffMs: 3_600_000,
  maxDoublings: 16,
};

export const LIMITS = {
  dispatchesPerSecond: 500,
  concurrentDispatches: 5000,
  /** Largest task: URL, headers and body. */
  taskBytes: 1024 * 1024,
  urlLength: 2083,
  headerBytes: 80 * 1024,
  scheduleAheadMs: 30 * 24 * 3_600_000,
  minDeadlineMs: 15_000,
  maxDeadlineMs: 30 * 60_000,
  maxAppEngineDeadlineMs: 24 * 3_600_000 + 15_000,
  appEngineTaskBytes: 100 * 1024,
  defaultDeadlineMs: 10 * 60_000,
  queuesPage: 1000,
  tasksPage: 1000,
  /** Age at which a task is deleted, dispatched or not. */
  taskLifeMs: 31 * 24 * 3_600_000,
  /** Time the name of a completed task stays reserved. */
  dedupMs: 3_600_000,
  minTaskTtlMs: 10 * 24 * 3_600_000,
  /** Ten years. */
  maxTaskTtlMs: 3653 * 24 * 3_600_000,
  minTombstoneTtlMs: 3_600_000,
  maxTombstoneTtlMs: 9 * 24 * 3_600_000,
} as const;

/** Cloud Tasks picks the burst itself (`max_burst_size` is output only); it grows with the rate. */
export function burstFor(maxDispatchesPerSecond: number): number {
  return Math.min(100, Math.max(10, Math.ceil(maxDispatchesPerSecond / 5)));
}
