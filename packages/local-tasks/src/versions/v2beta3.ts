/** Differences of `google.cloud.tasks.v2beta3` from v2. Pure. */
import { GrpcRefusal } from '@cairn/local-kit/wire/grpc-refusal';
import { status } from '@grpc/grpc-js';
import type { WireRouting } from '../target.ts';
import type { WireQueue, WireTask } from '../validate.ts';
import { type ApiVersion, pullQueue, renamedPath } from './translate.ts';

interface BetaQueue extends WireQueue {
  readonly appEngineHttpQueue?: { readonly appEngineRoutingOverride?: WireRouting | null } | null;
  readonly type?: number | null;
}

interface BetaTask extends WireTask {
  readonly pullMessage?: object | null;
  readonly retryConfig?: object | null;
}

const PULL = 1;
const PUSH = 2;
const ONE_BY_ONE = 'Make the calls for the tasks one by one.';
const NO_KEYS = 'Data on this machine is not encrypted with keys of a customer; leave the call out.';

export const V2BETA3: ApiVersion = {
  service: 'google.cloud.tasks.v2beta3.CloudTasks',
  settable: [
    'rateLimits',
    'retryConfig',
    'stackdriverLoggingConfig',
    'appEngineRoutingOverride',
    'httpTarget',
    'taskTtl',
    'tombstoneTtl',
  ],
  absent: {
    BatchCreateTasks: ONE_BY_ONE,
    BatchDeleteTasks: ONE_BY_ONE,
    UpdateCmekConfig: NO_KEYS,
    GetCmekConfig: NO_KEYS,
  },
  queueFrom(queue: BetaQueue): WireQueue {
    if (queue.type === PULL) throw pullQueue();
    return { ...queue, appEngineRoutingOverride: queue.appEngineHttpQueue?.appEngineRoutingOverride ?? null };
  },
  taskFrom(task: BetaTask): WireTask {
    if (task.pullMessage) throw pullQueue();
    if (task.retryConfig) {
      throw new GrpcRefusal(
        status.UNIMPLEMENTED,
        'Task.retry_config is not served on this machine. Set retry_config of the queue.',
      );
    }
    return task;
  },
  pathFrom: (path) =>
    renamedPath(path, {
      'app_engine_http_queue.app_engine_routing_override': 'app_engine_routing_override',
      app_engine_http_queue: 'app_engine_routing_override',
    }),
  queueTo(queue) {
    const { appEngineRoutingOverride, ...others } = queue as WireQueue;
    return {
      ...others,
      ...(appEngineRoutingOverride && { appEngineHttpQueue: { appEngineRoutingOverride } }),
      type: PUSH,
    };
  },
  taskTo: (task) => task,
};
