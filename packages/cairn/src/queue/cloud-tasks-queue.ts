/**
 * The queue that drives runs, in Cloud Tasks: each task is one HTTP request to the drive function, in the form task
 * queue functions take (`{"data": …}`), signed for its service account.
 *
 * Must not: decide when or how often a run is driven.
 */
import { type TraceContext, traceparentOf } from '../core/trace.ts';
import { type Clock, pause } from '../ports/clock.ts';
import { GRPC_STATUS, grpcStatusOf, leavesOutcomeUnknown } from '../ports/grpc-outcome.ts';
import type { Randomness } from '../ports/randomness.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';
import type { DriveTask, TaskQueue } from '../ports/task-queue.ts';

/** What this adapter needs of `CloudTasksClient`. */
export interface TasksClient {
  createTask(request: CreateTaskRequest, options: { readonly timeout: number }): Promise<unknown>;
}

export interface CreateTaskRequest {
  parent: string;
  task: {
    name?: string;
    scheduleTime?: { seconds: number; nanos: number };
    httpRequest: {
      httpMethod: 'POST';
      url: string;
      headers: { [name: string]: string };
      body: Buffer;
      oidcToken: { serviceAccountEmail: string };
    };
  };
}

export interface CloudTasksQueueOptions {
  readonly client: TasksClient;
  readonly project: string;
  readonly location: string;
  /** Name of the queue, which is that of the drive function. */
  readonly queue: string;
  /** Where the drive function listens. */
  readonly targetUrl: string;
  readonly serviceAccountEmail: string;
  readonly clock: Clock;
  readonly random: Randomness;
}

/** Sent so often before the outcome is left unknown. An unnamed task sent twice may run twice, which is harmless. */
const ATTEMPTS = 4;
const FIRST_BACKOFF_MS = 100;
const BACKOFF_CAP_MS = 2_000;
/** An enqueue stands between a commit and the end of a drive, so a silent service must not hold it for long. */
const CALL_TIMEOUT_MS = 5_000;
/**
 * Cloud Tasks takes nothing due in more than 30 days; less an hour for clocks that differ. A task that comes early is
 * enqueued again by the drive.
 */
const MAX_AHEAD_MS = 30 * 24 * 3_600_000 - 3_600_000;

export class CloudTasksQueue implements TaskQueue {
  readonly #options: CloudTasksQueueOptions;
  readonly #parent: string;

  constructor(options: CloudTasksQueueOptions) {
    this.#options = options;
    this.#parent = `projects/${options.project}/locations/${options.location}/queues/${options.queue}`;
  }

  async enqueue(task: DriveTask): Promise<void> {
    const { client, clock, random } = this.#options;
    const request = this.#requestFor(task);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.createTask(request, { timeout: CALL_TIMEOUT_MS });
        return;
      } catch (error) {
        if (task.name !== undefined && grpcStatusOf(error) === GRPC_STATUS.ALREADY_EXISTS) return;
        if (!leavesOutcomeUnknown(error)) throw error;
        if (attempt === ATTEMPTS) throw new OutcomeUnknown(`enqueue of run ${task.runId}`, error);
      }
      const bound = Math.min(BACKOFF_CAP_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));
      await pause(clock, bound * random.unit());
    }
  }

  #requestFor({ runId, reason, at, name, trace }: DriveTask): CreateTaskRequest {
    if (name !== undefined && !/^[A-Za-z0-9_-]{1,500}$/.test(name))
      throw new Error(`'${name}' is not a task name`);
    const { clock, targetUrl: url, serviceAccountEmail } = this.#options;
    return {
      parent: this.#parent,
      task: {
        ...(name === undefined ? {} : { name: `${this.#parent}/tasks/${name}` }),
        ...(at === undefined ? {} : { scheduleTime: timestamp(Math.min(at, clock.now() + MAX_AHEAD_MS)) }),
        httpRequest: {
          httpMethod: 'POST',
          url,
          headers: { 'Content-Type': 'application/json' },
          // Not as a header: on its way to a function another span is put into that.
          body: Buffer.from(JSON.stringify({ data: { runId, reason, ...traced(trace) } })),
          oidcToken: { serviceAccountEmail },
        },
      },
    };
  }
}

function traced(trace: TraceContext | undefined): { traceparent?: string } {
  return trace ? { traceparent: traceparentOf(trace) } : {};
}

function timestamp(ms: number): { seconds: number; nanos: number } {
  const seconds = Math.floor(ms / 1_000);
  return { seconds, nanos: (ms - seconds * 1_000) * 1_000_000 };
}
