/**
 * The calls of `google.cloud.tasks.v2.CloudTasks`, each an operation of the registry. Owns requests and pages. Beta calls are translated to
 * these (`versions/`).
 */

import { invalid } from './errors.ts';
import type { QueueConfig } from './model.ts';
import { LIMITS } from './model.ts';
import { requireLocation, requireQueue, requireTask } from './names.ts';
import { parseQueueFilter } from './queue-filter.ts';
import { type QueueSetting, requireSettings, updatedQueue } from './queue-update.ts';
import type { TaskRegistry } from './registry.ts';
import { queueFrom, taskFrom, type WireQueue, type WireTask } from './validate.ts';
import { toWireQueue, toWireTask } from './wire.ts';

interface ServiceOptions {
  readonly registry: TaskRegistry;
  readonly now: () => number;
  readonly freshTaskId: () => string;
  /** True if App Engine tasks are accepted. */
  readonly hasAppEngine: boolean;
}

const SETTABLE: readonly QueueSetting[] = [
  'rateLimits',
  'retryConfig',
  'stackdriverLoggingConfig',
  'appEngineRoutingOverride',
];

interface NameRequest {
  readonly name: string;
  readonly responseView?: number;
}

interface TaskPageRequest {
  readonly parent: string;
  readonly filter?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly responseView?: number;
}

interface UpdateRequest {
  readonly queue?: WireQueue | null;
  readonly updateMask?: { readonly paths?: readonly string[] } | null;
  /** Settings of an API version other than v2. */
  readonly settable?: readonly QueueSetting[];
}

export type CloudTasksCalls = ReturnType<typeof cloudTasksService>;

/** Handlers by method name; each returns the response message or throws a `GrpcRefusal`. */
export function cloudTasksService({ registry, now, freshTaskId, hasAppEngine }: ServiceOptions) {
  const setState = (name: string, state: QueueConfig['state']) =>
    toWireQueue(registry.configureQueue({ ...registry.queue(requireQueue(name)), state }));

  return {
    CreateQueue({ parent, queue }: { parent: string; queue?: WireQueue | null }) {
      requireLocation(parent);
      const name = queue?.name ?? '';
      if (!name.startsWith(`${parent}/queues/`)) {
        throw invalid(`Queue.name '${name}' must be in the location of the request, '${parent}'.`);
      }
      return toWireQueue(registry.createQueue(queueFrom(name, queue ?? {})));
    },

    /** Like production, creates the queue if it does not exist. */
    UpdateQueue({ queue, updateMask, settable = SETTABLE }: UpdateRequest) {
      const name = requireQueue(queue?.name ?? '');
      const given = queue ?? {};
      const update = { queue: given, paths: updateMask?.paths, settable };
      if (!registry.hasQueue(name)) {
        requireSettings(update);
        return toWireQueue(registry.createQueue(queueFrom(name, given)));
      }
      return toWireQueue(registry.configureQueue(updatedQueue(registry.queue(name), update)));
    },

    GetQueue: ({ name }: NameRequest) => toWireQueue(registry.queue(requireQueue(name))),

    ListQueues({ parent, filter, pageSize, pageToken }: TaskPageRequest) {
      requireLocation(parent);
      const limit = pageLimit(pageSize, LIMITS.queuesPage);
      const matches = parseQueueFilter(filter ?? '');
      // The filter cannot change from page to page.
      const list = `${parent}?${filter ?? ''}`;
      const after = readToken(pageToken, list) ?? '';
      const queues = registry.queues(parent, after, { limit: limit + 1, matches });
      const page = queues.slice(0, limit);
      const more = queues.length > limit ? token(page.at(-1)?.name ?? '', list) : '';
      return { queues: page.map(toWireQueue), nextPageToken: more };
    },

    DeleteQueue({ name }: NameRequest) {
      registry.deleteQueue(requireQueue(name));
      return {};
    },

    PurgeQueue: ({ name }: NameRequest) => toWireQueue(registry.purgeQueue(requireQueue(name))),
    PauseQueue: ({ name }: NameRequest) => setState(name, 'paused'),
    ResumeQueue: ({ name }: NameRequest) => setState(name, 'running'),

    CreateTask({ parent, task, responseView }: { parent: string; task?: WireTask; responseView?: number }) {
      const record = taskFrom({ parent, task, now: now(), freshId: freshTaskId, hasAppEngine });
      return toWireTask(registry.createTask(record), responseView ?? 0);
    },

    GetTask: ({ name, responseView }: NameRequest) =>
      toWireTask(registry.task(requireTask(name).name), responseView ?? 0),

    ListTasks({ parent, pageSize, pageToken, responseView }: TaskPageRequest) {
      requireQueue(parent);
      const limit = pageLimit(pageSize, LIMITS.tasksPage);
      const after = Number(readToken(pageToken, parent) ?? 0);
      const tasks = registry.tasks(parent, after, limit + 1);
      const page = tasks.slice(0, limit);
      const more = tasks.length > limit ? token(String(page.at(-1)?.id ?? 0), parent) : '';
      return { tasks: page.map(({ task }) => toWireTask(task, responseView ?? 0)), nextPageToken: more };
    },

    DeleteTask({ name }: NameRequest) {
      registry.deleteTask(requireTask(name).name);
      return {};
    },

    RunTask: ({ name, responseView }: NameRequest) =>
      toWireTask(registry.runTask(requireTask(name).name), responseView ?? 0),
  };
}

function pageLimit(requested: number | undefined, most: number): number {
  if ((requested ?? 0) < 0) throw invalid('page_size must not be negative.');
  return Math.min(requested || most, most);
}

const token = (position: string, list: string) =>
  Buffer.from(JSON.stringify([list, position])).toString('base64url');

/** A token is only valid for the list that it came from, as in production. */
function readToken(text: string | undefined, list: string): string | undefined {
  if (!text) return undefined;
  try {
    const [of, position] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string];
    if (of === list) return position;
  } catch {
    // Not a token of this server.
  }
  throw invalid('page_token is invalid or belongs to another list.');
}
