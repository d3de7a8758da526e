/**
 * Calls of a beta version of the API: each translates its messages and uses the call of v2. Owns the common part; differences are in
 * `v2beta2.ts` and `v2beta3.ts`. Pure.
 */
import { GrpcRefusal } from '@cairn/local-kit/wire/grpc-refusal';
import { status } from '@grpc/grpc-js';
import type { QueueSetting } from '../queue-update.ts';
import type { CloudTasksCalls } from '../service.ts';
import type { WireQueue, WireTask } from '../validate.ts';

export interface ApiVersion {
  /** Full name. */
  readonly service: string;
  readonly settable: readonly QueueSetting[];
  /** Translates a queue to v2. @throws GrpcRefusal for unsupported members */
  queueFrom(queue: never): WireQueue;
  taskFrom(task: never): WireTask;
  /** Translates a path of an update mask to v2. */
  pathFrom(path: string): string;
  /** Translates a queue from v2. */
  queueTo(queue: object): object;
  taskTo(task: object): object;
  /** Advice for each unsupported call. */
  readonly absent: Readonly<Record<string, string>>;
}

interface ListAnswer {
  readonly queues?: readonly object[];
  readonly tasks?: readonly object[];
}

interface CreateRequest {
  readonly parent: string;
  readonly task?: never;
  readonly responseView?: number;
}

type Call = (request: never) => object;

export function callsOf(
  version: ApiVersion,
  calls: CloudTasksCalls,
  access: Readonly<Record<string, Call>>,
): Readonly<Record<string, Call>> {
  const queue =
    (call: Call): Call =>
    (request) =>
      version.queueTo(call(request));
  const task =
    (call: Call): Call =>
    (request) =>
      version.taskTo(call(request));
  const absent = Object.entries(version.absent).map(([name, instead]): [string, Call] => [
    name,
    () => {
      throw new GrpcRefusal(status.UNIMPLEMENTED, `${name} is not served on this machine. ${instead}`);
    },
  ]);
  const list = (call: Call, request: never): ListAnswer => {
    const answer: ListAnswer = call(request);
    return {
      ...answer,
      ...(answer.queues && { queues: answer.queues.map((one) => version.queueTo(one)) }),
      ...(answer.tasks && { tasks: answer.tasks.map((one) => version.taskTo(one)) }),
    };
  };
  return {
    ...access,
    ...Object.fromEntries(absent),
    CreateQueue: ({ parent, queue: given }: { parent: string; queue?: never }) =>
      version.queueTo(calls.CreateQueue({ parent, queue: given ? version.queueFrom(given) : null })),
    UpdateQueue({ queue: given, updateMask }: { queue?: never; updateMask?: { paths?: string[] } | null }) {
      const paths = updateMask?.paths?.map((path) => version.pathFrom(path)) ?? [];
      return version.queueTo(
        calls.UpdateQueue({
          queue: given ? version.queueFrom(given) : null,
          updateMask: { paths },
          settable: version.settable,
        }),
      );
    },
    GetQueue(request: never) {
      requireNoReadMask(request);
      return version.queueTo(calls.GetQueue(request));
    },
    ListQueues(request: never) {
      requireNoReadMask(request);
      return list(calls.ListQueues, request);
    },
    DeleteQueue: calls.DeleteQueue,
    PurgeQueue: queue(calls.PurgeQueue),
    PauseQueue: queue(calls.PauseQueue),
    ResumeQueue: queue(calls.ResumeQueue),
    CreateTask({ task: given, ...request }: CreateRequest) {
      if (!given) return calls.CreateTask(request);
      return version.taskTo(calls.CreateTask({ ...request, task: version.taskFrom(given) }));
    },
    GetTask: task(calls.GetTask),
    ListTasks: (request: never) => list(calls.ListTasks, request),
    DeleteTask: calls.DeleteTask,
    RunTask: task(calls.RunTask),
  };
}

/** Refuses a read mask with `stats`, the usual reason for a mask. */
function requireNoReadMask({
  readMask,
}: {
  readonly readMask?: { readonly paths?: readonly string[] } | null;
}) {
  if (readMask?.paths?.some((path) => /^stats\b/.test(path))) {
    throw new GrpcRefusal(
      status.UNIMPLEMENTED,
      'Queue.stats is not served on this machine. Count the tasks of the queue with ListTasks.',
    );
  }
}

export const pullQueue = () =>
  new GrpcRefusal(
    status.UNIMPLEMENTED,
    'Pull queues are not served on this machine. Use tasks that are sent to a URL, or a pull subscription of Pub/Sub.',
  );

/** @param renamed new names by old names; also applies to paths below a name */
export function renamedPath(path: string, renamed: Readonly<Record<string, string>>): string {
  const snake = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const old = Object.keys(renamed).find((name) => snake === name || snake.startsWith(`${name}.`));
  return old === undefined ? snake : `${renamed[old]}${snake.slice(old.length)}`;
}
