/**
 * The queue that drives runs, in Cloud Tasks: each task is one HTTP request to the function `drive`, in the form task
 * queue functions take (`{"data": …}`), signed for its service account.
 *
 * Must not: decide when or how often a run is driven.
 */
import { type Backoff, backoffBoundMs } from '../core/decisions/retry.ts';
import { type QueueSpread, queueName, queuePlace } from '../core/encoding/queue-place.ts';
import { CairnError } from '../core/errors.ts';
import { type TraceContext, traceparentOf } from '../core/trace.ts';
import { type Clock, pause } from '../ports/clock.ts';
import { GRPC_STATUS, grpcStatusOf, leavesOutcomeUnknown } from '../ports/grpc-outcome.ts';
import type { Randomness } from '../ports/randomness.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';
import type { DriveTask, TaskQueue } from '../ports/task-queue.ts';

/** The part of `CloudTasksClient` that this adapter uses. */
export interface TasksClient {
  createTask(
    request: CreateTaskRequest,
    options: { readonly timeout: number; readonly retry: null },
  ): Promise<unknown>;
}

export interface CreateTaskRequest {
  parent: string;
  task: {
    name?: string;
    scheduleTime?: { seconds: number; nanos: number };
    dispatchDeadline?: { seconds: number };
    httpRequest: {
      httpMethod: 'POST';
      url: string;
      headers: { [name: string]: string };
      body: Buffer;
      oidcToken: { serviceAccountEmail: string };
    };
  };
}

export interface QueueTarget {
  /** Name of the queue, which is that of its function. */
  readonly name: string;
  readonly targetUrl: string;
}

export interface DriveQueues {
  /** Time the service waits for an answer, s. Default: 600. */
  readonly deadlineS?: number;
  readonly shared: QueueTarget;
  /** Additional queues of the shared function, named after it; absent: only its own queue. */
  readonly spread?: QueueSpread;
  /** For tasks that must run alone: one at a time in an instance. */
  readonly alone: QueueTarget;
}

interface CloudTasksQueueOptions {
  readonly client: TasksClient;
  readonly project: string;
  readonly location: string;
  readonly queues: DriveQueues;
  /** For tasks of workflows with functions of their own, by the name of the class. */
  readonly pools?: Readonly<Record<string, DriveQueues>>;
  readonly serviceAccountEmail: string;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Limit of all attempts of an enqueue together; shorter in tests. */
  readonly timeoutMs?: (() => number) | undefined;
}

/** Number of attempts before the outcome stays unknown. An unnamed task that is sent twice may run twice, which is harmless. */
const ATTEMPTS = 4;
const BACKOFF: Backoff = { initialMs: 100, factor: 2, capMs: 2_000 };
/**
 * Time limit of all attempts together. A dispatch awaits an enqueue between its commit and its end, so a silent service must
 * not block it for long. One attempt may take half of the time, so that a lost answer leaves time for another.
 */
const ENQUEUE_TIMEOUT_MS = 5_000;
/**
 * Time for which a missing queue is not used. A deployment with more queues creates a new queue some time before or after the
 * functions use it.
 */
const ABSENT_MS = 60_000;
/**
 * Cloud Tasks accepts tasks due within 30 days; less an hour for differing clocks. A task that arrives early is enqueued again
 * by its dispatch.
 */
const MAX_AHEAD_MS = 30 * 24 * 3_600_000 - 3_600_000;

export class CloudTasksQueue implements TaskQueue {
  readonly #options: CloudTasksQueueOptions;
  /** Missing queues, and the time until which they are not used, epoch ms: at most {@link MAX_QUEUES} of each class. */
  readonly #absent = new Map<string, number>();

  constructor(options: CloudTasksQueueOptions) {
    this.#options = options;
  }

  async enqueue(task: DriveTask): Promise<void> {
    const { client, clock, random, timeoutMs = () => ENQUEUE_TIMEOUT_MS } = this.#options;
    const queues = this.#queuesOf(task);
    let place = this.#placeOf(task, queues);
    const limit = timeoutMs();
    const deadline = clock.now() + limit;
    for (let attempt = 1; ; attempt += 1) {
      const request = this.#requestFor(task, queues, place);
      try {
        const timeout = Math.max(1, Math.min(limit / 2, deadline - clock.now()));
        await client.createTask(request, { timeout, retry: null });
        return;
      } catch (error) {
        if (task.name !== undefined && grpcStatusOf(error) === GRPC_STATUS.ALREADY_EXISTS) return;
        if (isMissing(error)) {
          if (place === 0) throw missing(request.parent, error);
          this.#absent.set(queueName(queues.shared.name, place), clock.now() + ABSENT_MS);
          place = 0;
          continue;
        }
        if (!leavesOutcomeUnknown(error)) throw error;
        if (attempt === ATTEMPTS || clock.now() >= deadline)
          throw new OutcomeUnknown(`enqueue of run ${task.runId}`, error);
      }
      await pause(clock, random.unit() * backoffBoundMs(BACKOFF, attempt));
    }
  }

  #queuesOf({ pool }: DriveTask): DriveQueues {
    const { queues, pools = {} } = this.#options;
    const own = pool === undefined ? queues : pools[pool];
    if (!own) throw new Error(`no queue for the drives '${pool}'`);
    return own;
  }

  /** Tasks of a queue that was recently missing go into the first queue, which every deployment creates. */
  #placeOf(task: DriveTask, { shared, spread }: DriveQueues): number {
    if (task.alone || spread === undefined) return 0;
    const place = queuePlace(spread, task);
    return (this.#absent.get(queueName(shared.name, place)) ?? 0) > this.#options.clock.now() ? 0 : place;
  }

  #requestFor(
    { runId, reason, at, name, alone, watches, skipsBackoff, trace }: DriveTask,
    own: DriveQueues,
    place: number,
  ): CreateTaskRequest {
    if (name !== undefined && !/^[A-Za-z0-9_-]{1,500}$/.test(name))
      throw new Error(`'${name}' is not a task name`);
    const { clock, project, location, serviceAccountEmail } = this.#options;
    const { name: first, targetUrl: url } = alone ? own.alone : own.shared;
    const parent = `projects/${project}/locations/${location}/queues/${queueName(first, place)}`;
    return {
      parent,
      task: {
        ...(name === undefined ? {} : { name: `${parent}/tasks/${name}` }),
        ...(at === undefined ? {} : { scheduleTime: timestamp(Math.min(at, clock.now() + MAX_AHEAD_MS)) }),
        ...(own.deadlineS === undefined ? {} : { dispatchDeadline: { seconds: own.deadlineS } }),
        httpRequest: {
          httpMethod: 'POST',
          url,
          headers: { 'Content-Type': 'application/json' },
          // The trace is in the body, because another span replaces the header on the way to a function.
          body: Buffer.from(
            JSON.stringify({
              data: {
                runId,
                reason,
                ...(watches && { watches }),
                ...(skipsBackoff && { asked: skipsBackoff }),
                ...traced(trace),
              },
            }),
          ),
          oidcToken: { serviceAccountEmail },
        },
      },
    };
  }
}

function isMissing(error: unknown): boolean {
  const status = grpcStatusOf(error);
  // The service has answered with either status for a missing queue.
  return status === GRPC_STATUS.NOT_FOUND || status === GRPC_STATUS.FAILED_PRECONDITION;
}

/**
 * A suspect is never put into the queue `drive` instead of `driveAlone`, because it could kill the workers of other runs there.
 * The queue retries the enqueuing task, and the scan enqueues again, so the run continues soon after `driveAlone` is created.
 */
function missing(queue: string, cause: unknown): CairnError {
  const name = queue.slice(queue.lastIndexOf('/') + 1);
  return new CairnError('UNAVAILABLE', `no queue ${name} in ${queue}`, {
    cause,
    help: `Run firebase deploy --only functions:CODEBASE:${name} to create it (CODEBASE as in firebase.json), and check that CAIRN_REGION is the region of the functions.`,
  });
}

function traced(trace: TraceContext | undefined): { traceparent?: string } {
  return trace ? { traceparent: traceparentOf(trace) } : {};
}

function timestamp(ms: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(ms / 1_000);
  return { seconds, nanos: (ms - seconds * 1_000) * 1_000_000 };
}
