/**
 * Reads the state of a queue of dispatches from Cloud Tasks: whether it runs, and the number of its tasks. Without the role for
 * this, which enqueueing does not need, it reports that the role is missing.
 *
 * Must not: change anything, or read the content of a task.
 */
import type { QueueProbe, SeenQueue, SeenTasks } from '../ports/diagnosis/queue-probe.ts';
import { GRPC_STATUS, grpcStatusOf } from '../ports/grpc-outcome.ts';

/** The part of `CloudTasksClient` that this adapter uses. */
export interface QueueClient {
  getQueue(
    request: { name: string },
    options: GaxCallOptions,
  ): Promise<readonly [{ state?: unknown }, ...unknown[]]>;
  listTasks(
    request: { parent: string; pageSize: number; responseView: 'BASIC' },
    options: GaxCallOptions & { readonly autoPaginate: false },
  ): Promise<readonly [readonly ListedTask[], unknown, ...unknown[]]>;
}

interface GaxCallOptions {
  readonly timeout: number;
  readonly retry: null;
}

/** Times in the form that protobufjs makes of an int64. */
interface ListedTask {
  readonly scheduleTime?: {
    readonly seconds?: number | string | { toString(): string } | null;
    readonly nanos?: number | null;
  } | null;
}

interface CloudTasksProbeOptions {
  readonly client: QueueClient;
  readonly project: string;
  readonly location: string;
}

/** Maximum number of tasks that the service returns at once. */
const PAGE = 1_000;
/** No retries, because a caller waits for the response and can repeat the request. */
const CALL: GaxCallOptions = { timeout: 5_000, retry: null };

const STATES = { RUNNING: 'running', PAUSED: 'paused', DISABLED: 'disabled' } as const;

export class CloudTasksProbe implements Pick<QueueProbe, 'inspect'> {
  readonly #client: QueueClient;
  readonly #location: string;

  constructor({ client, project, location }: CloudTasksProbeOptions) {
    this.#client = client;
    this.#location = `projects/${project}/locations/${location}`;
  }

  async inspect(now: number, queue: string): Promise<SeenQueue> {
    const name = `${this.#location}/queues/${queue}`;
    try {
      const [{ state }] = await this.#client.getQueue({ name }, CALL);
      const word =
        typeof state === 'string' && state in STATES ? STATES[state as keyof typeof STATES] : 'unknown';
      return { kind: 'seen', state: word, tasks: await this.#tasks(name, now) };
    } catch (error) {
      const status = grpcStatusOf(error);
      if (status === GRPC_STATUS.NOT_FOUND) return { kind: 'missing' };
      if (status === GRPC_STATUS.PERMISSION_DENIED) return { kind: 'denied' };
      throw error;
    }
  }

  async #tasks(parent: string, now: number): Promise<SeenTasks> {
    try {
      const [tasks, next] = await this.#client.listTasks(
        { parent, pageSize: PAGE, responseView: 'BASIC' },
        { ...CALL, autoPaginate: false },
      );
      const due = tasks.map(({ scheduleTime }) => msOf(scheduleTime)).filter((at) => at <= now);
      return {
        kind: 'counted',
        depth: tasks.length,
        isCut: Boolean(next),
        oldestDueAt: due.length === 0 ? undefined : Math.min(...due),
      };
    } catch (error) {
      if (grpcStatusOf(error) === GRPC_STATUS.PERMISSION_DENIED) return { kind: 'denied' };
      throw error;
    }
  }
}

/** The service sets a time on every task; a task without one counts as due immediately. */
function msOf(time: ListedTask['scheduleTime']): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
