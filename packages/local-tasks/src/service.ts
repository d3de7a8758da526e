/** The calls of `google.cloud.tasks.v2.CloudTasks`, each an operation of the registry. Owns requests and pages. */

import { invalid } from './errors.ts';
import type { QueueConfig } from './model.ts';
import { LIMITS } from './model.ts';
import { requireLocation, requireQueue, requireTask } from './names.ts';
import { parseQueueFilter } from './queue-filter.ts';
import type { TaskRegistry } from './registry.ts';
import { queueFrom, rateLimitsFrom, retryFrom, taskFrom, type WireQueue, type WireTask } from './validate.ts';
import { toWireQueue, toWireTask } from './wire.ts';

interface ServiceOptions {
  readonly registry: TaskRegistry;
  readonly now: () => number;
  readonly freshTaskId: () => string;
}

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

/** Handlers by method name; each returns the response message or throws a `TasksError`. */
export function cloudTasksService({ registry, now, freshTaskId }: ServiceOptions) {
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
    UpdateQueue({
      queue,
      updateMask,
    }: {
      queue?: WireQueue | null;
      updateMask?: { paths?: string[] } | null;
    }) {
      const name = requireQueue(queue?.name ?? '');
      if (!registry.hasQueue(name)) return toWireQueue(registry.createQueue(queueFrom(name, queue ?? {})));
      return toWireQueue(
        registry.configureQueue(masked(registry.queue(name), queue ?? {}, updateMask?.paths)),
      );
    },

    GetQueue: ({ name }: NameRequest) => toWireQueue(registry.queue(requireQueue(name))),

    ListQueues({ parent, filter, pageSize, pageToken }: TaskPageRequest) {
      requireLocation(parent);
      const limit = pageLimit(pageSize, LIMITS.queuesPage);
      const matches = parseQueueFilter(filter ?? '');
      const after = readToken(pageToken, parent) ?? '';
      const queues = registry.queues(parent, after, { limit: limit + 1, matches });
      const page = queues.slice(0, limit);
      const more = queues.length > limit ? token(page.at(-1)?.name ?? '', parent) : '';
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
      const record = taskFrom({ parent, task, now: now(), freshId: freshTaskId });
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

/** The fields an update mask can name, with and without a sub-field. */
function masked(before: QueueConfig, wire: WireQueue, paths: string[] | undefined): QueueConfig {
  const named = paths && paths.length > 0 ? paths : ['rate_limits', 'retry_config'];
  let { rateLimits, retry } = before;
  for (const path of named) {
    const [field, sub] = path.split('.');
    if (field === 'rate_limits' || field === 'rateLimits') {
      const next = rateLimitsFrom(wire.rateLimits);
      rateLimits = sub ? { ...rateLimits, ...pick(next, sub) } : next;
    } else if (field === 'retry_config' || field === 'retryConfig') {
      const next = retryFrom(wire.retryConfig);
      retry = sub ? { ...retry, ...pick(next, sub) } : next;
    } else if (field !== 'name') {
      throw invalid(`UpdateQueueRequest.update_mask: field '${path}' cannot be updated.`);
    }
  }
  return { ...before, rateLimits, retry };
}

/** The value of a sub-field by its wire name: `max_attempts`, `minBackoff` (kept as `minBackoffMs`). */
function pick<T extends object>(values: T, wireName: string): Partial<T> {
  const name = wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const key = [name, `${name}Ms`].find((candidate) => Object.hasOwn(values, candidate));
  if (key === undefined)
    throw invalid(`UpdateQueueRequest.update_mask: field '${wireName}' cannot be updated.`);
  return { [key]: values[key as keyof T] } as Partial<T>;
}

function pageLimit(requested: number | undefined, most: number): number {
  if ((requested ?? 0) < 0) throw invalid('page_size must not be negative.');
  return Math.min(requested || most, most);
}

const token = (position: string, parent: string) =>
  Buffer.from(JSON.stringify([parent, position])).toString('base64url');

/** A token is only valid for the list that it came from, as in production. */
function readToken(text: string | undefined, parent: string): string | undefined {
  if (!text) return undefined;
  try {
    const [of, position] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string];
    if (of === parent) return position;
  } catch {
    // Not a token of this server.
  }
  throw invalid('page_token is invalid or belongs to another list.');
}
