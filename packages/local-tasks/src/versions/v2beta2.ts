/** Differences of `google.cloud.tasks.v2beta2` from v2. Pure. */
import type { WireRouting } from '../target.ts';
import type { WireQueue, WireTask } from '../validate.ts';
import { type ApiVersion, pullQueue, renamedPath } from './translate.ts';

interface BetaQueue extends Omit<WireQueue, 'rateLimits' | 'retryConfig'> {
  readonly appEngineHttpTarget?: { readonly appEngineRoutingOverride?: WireRouting | null } | null;
  readonly pullTarget?: object | null;
  readonly rateLimits?: {
    readonly maxTasksDispatchedPerSecond?: number | null;
    readonly maxConcurrentTasks?: number | null;
  } | null;
  readonly retryConfig?:
    | (NonNullable<WireQueue['retryConfig']> & { readonly unlimitedAttempts?: boolean | null })
    | null;
}

interface BetaTask extends Omit<WireTask, 'appEngineHttpRequest'> {
  readonly pullMessage?: object | null;
  readonly appEngineHttpRequest?:
    | (Omit<NonNullable<WireTask['appEngineHttpRequest']>, 'body' | 'relativeUri'> & {
        readonly relativeUrl?: string | null;
        readonly payload?: Uint8Array | null;
      })
    | null;
}

/** Members of a task in v2 that have other names in v2beta2. */
interface AnsweredTask {
  readonly appEngineHttpRequest?: { readonly relativeUri?: string; readonly body?: Uint8Array };
  readonly dispatchCount?: number;
  readonly responseCount?: number;
  readonly firstAttempt?: object;
  readonly lastAttempt?: object;
}

const UNLIMITED = -1;
const NO_PULL =
  'It is about pull queues: use tasks that are sent to a URL, or a pull subscription of Pub/Sub.';

export const V2BETA2: ApiVersion = {
  service: 'google.cloud.tasks.v2beta2.CloudTasks',
  settable: [
    'rateLimits',
    'retryConfig',
    'appEngineRoutingOverride',
    'httpTarget',
    'taskTtl',
    'tombstoneTtl',
  ],
  absent: {
    UploadQueueYaml: 'Create the queues with CreateQueue.',
    LeaseTasks: NO_PULL,
    AcknowledgeTask: NO_PULL,
    RenewLease: NO_PULL,
    CancelLease: NO_PULL,
  },
  queueFrom({ rateLimits, retryConfig, appEngineHttpTarget, pullTarget, ...others }: BetaQueue): WireQueue {
    if (pullTarget) throw pullQueue();
    const { unlimitedAttempts, ...retry } = retryConfig ?? {};
    return {
      ...others,
      appEngineRoutingOverride: appEngineHttpTarget?.appEngineRoutingOverride ?? null,
      ...(rateLimits && {
        rateLimits: {
          maxDispatchesPerSecond: rateLimits.maxTasksDispatchedPerSecond ?? null,
          maxConcurrentDispatches: rateLimits.maxConcurrentTasks ?? null,
        },
      }),
      ...(retryConfig && { retryConfig: { ...retry, ...(unlimitedAttempts && { maxAttempts: UNLIMITED }) } }),
    };
  },
  taskFrom({ appEngineHttpRequest, pullMessage, ...others }: BetaTask): WireTask {
    if (pullMessage) throw pullQueue();
    if (!appEngineHttpRequest) return others;
    const { relativeUrl, payload, ...request } = appEngineHttpRequest;
    return {
      ...others,
      appEngineHttpRequest: { ...request, relativeUri: relativeUrl ?? null, body: payload ?? null },
    };
  },
  pathFrom: (path) =>
    renamedPath(path, {
      'app_engine_http_target.app_engine_routing_override': 'app_engine_routing_override',
      app_engine_http_target: 'app_engine_routing_override',
      'rate_limits.max_tasks_dispatched_per_second': 'rate_limits.max_dispatches_per_second',
      'rate_limits.max_concurrent_tasks': 'rate_limits.max_concurrent_dispatches',
      'retry_config.unlimited_attempts': 'retry_config.max_attempts',
    }),
  queueTo(queue) {
    const { appEngineRoutingOverride, rateLimits, retryConfig, ...others } = queue as WireQueue & {
      readonly rateLimits: { readonly maxBurstSize: number };
    };
    const { maxAttempts, ...retry } = retryConfig ?? {};
    return {
      ...others,
      ...(appEngineRoutingOverride && { appEngineHttpTarget: { appEngineRoutingOverride } }),
      rateLimits: {
        maxTasksDispatchedPerSecond: rateLimits.maxDispatchesPerSecond,
        maxBurstSize: rateLimits.maxBurstSize,
        maxConcurrentTasks: rateLimits.maxConcurrentDispatches,
      },
      retryConfig: {
        ...retry,
        ...(maxAttempts === UNLIMITED ? { unlimitedAttempts: true } : { maxAttempts }),
      },
    };
  },
  taskTo(task) {
    const { appEngineHttpRequest, dispatchCount, responseCount, firstAttempt, lastAttempt, ...others } =
      task as AnsweredTask;
    const { relativeUri, body, ...request } = appEngineHttpRequest ?? {};
    return {
      ...others,
      ...(appEngineHttpRequest && {
        appEngineHttpRequest: { ...request, relativeUrl: relativeUri, payload: body },
      }),
      status: {
        attemptDispatchCount: dispatchCount,
        attemptResponseCount: responseCount,
        firstAttemptStatus: firstAttempt,
        lastAttemptStatus: lastAttempt,
      },
    };
  },
};
