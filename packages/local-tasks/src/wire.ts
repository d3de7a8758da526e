/** Converts tasks and queues between protobuf messages and the model. No state, no rules. */
import { fromMs } from '@cairn/local-kit/wire/timestamp';
import { toWireHttpTarget } from './http-target/wire.ts';
import type { AppEngineRouting, AttemptRecord, QueueConfig, TaskRecord } from './model.ts';
import { HTTP_METHODS, LIMITS } from './model.ts';

const RUNNING = 1;
const PAUSED = 2;

/** Has the members of all versions; the encoder of a version drops unknown members. */
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
    ...(queue.appEngineRouting && {
      appEngineRoutingOverride: toWireRouting(queue.appEngineRouting, queue.name),
    }),
    ...(queue.loggedRatio !== undefined && {
      stackdriverLoggingConfig: { samplingRatio: queue.loggedRatio },
    }),
    ...(queue.httpTarget && { httpTarget: toWireHttpTarget(queue.httpTarget) }),
    taskTtl: fromMs(queue.taskTtlMs ?? LIMITS.taskLifeMs),
    tombstoneTtl: fromMs(queue.tombstoneTtlMs ?? LIMITS.dedupMs),
    state: queue.state === 'paused' ? PAUSED : RUNNING,
    ...(queue.purgedAt !== undefined && { purgeTime: fromMs(queue.purgedAt) }),
  };
}

const BASIC = 1;
export const FULL = 2;

/** The basic view omits the body, which may be large or secret. */
export function toWireTask(task: TaskRecord, view: number): object {
  const { progress } = task;
  const full = view === FULL;
  return {
    name: task.name,
    ...toWireTarget(task, full),
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

function toWireTarget({ target, name }: TaskRecord, full: boolean): object {
  const { oidc, oauth, appEngine } = target;
  const request = {
    httpMethod: HTTP_METHODS.indexOf(target.method),
    headers: target.headers,
    ...(full && { body: target.body }),
  };
  if (appEngine) {
    const appEngineRouting = toWireRouting(appEngine, name);
    return { appEngineHttpRequest: { ...request, relativeUri: target.url, appEngineRouting } };
  }
  return {
    httpRequest: {
      ...request,
      url: target.url,
      ...(oidc && { oidcToken: { ...oidc } }),
      ...(oauth && { oauthToken: { ...oauth } }),
    },
  };
}

/** The host is that of the project's app in production's older form, without a region. */
function toWireRouting(routing: AppEngineRouting, resource: string): object {
  const { service, version, instance } = routing;
  const app = `${resource.split('/')[1]}.appspot.com`;
  return { ...routing, host: [instance, version, service, app].filter(Boolean).join('.') };
}

function toWireAttempt(attempt: AttemptRecord): object {
  return {
    scheduleTime: fromMs(attempt.scheduledAt),
    dispatchTime: fromMs(attempt.dispatchedAt),
    ...(attempt.respondedAt !== undefined && { responseTime: fromMs(attempt.respondedAt) }),
    ...(attempt.code !== undefined && {
      responseStatus: { code: attempt.code, message: attempt.message },
    }),
  };
}
