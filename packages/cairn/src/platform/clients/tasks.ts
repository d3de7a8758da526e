/**
 * The task queues of this process. The client library is large, and a process that only reads runs never enqueues, so it is loaded
 * with the first task.
 */
import { furtherQueues } from '../../core/encoding/queue-place.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Clock } from '../../ports/clock.ts';
import type { QueueProbe, SeenQueue, WatchedQueue } from '../../ports/diagnosis/queue-probe.ts';
import { GRPC_STATUS, grpcStatusOf } from '../../ports/grpc-outcome.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { TaskQueue } from '../../ports/task-queue.ts';
import { CloudTasksProbe, type QueueClient } from '../../queue/cloud-tasks-probe.ts';
import { CloudTasksQueue, type TasksClient } from '../../queue/cloud-tasks-queue.ts';
import type { Settings } from '../settings/settings.ts';
import { connectedOnce } from './connected-once.ts';
import { type Wire, wireTo } from './wire.ts';

const METADATA_URL =
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/email';
const METADATA_TIMEOUT_MS = 3_000;
const MAKE_TIMEOUT_MS = 10_000;
/** The local server checks only the form of this address. */
const LOCAL_ACCOUNT = 'drive@cairn.invalid';

interface LazyQueueOptions {
  readonly settings: QueueSettings;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Deadline of one enqueue; shorter in tests. */
  readonly timeoutMs?: () => number;
}

type Client = TasksClient & QueueClient & QueueMaker;

type QueueSettings = Pick<
  Settings,
  'project' | 'region' | 'tasksHost' | 'wireHosts' | 'drive' | 'pools' | 'serviceAccount'
>;

export function lazyQueue(options: LazyQueueOptions): TaskQueue & { connect(): Promise<TaskQueue> } {
  const connected = connectedOnce(() => connect(options));
  return {
    connect: connected,
    async enqueue(task) {
      await (await connected()).enqueue(task);
    },
  };
}

const EMPTY: SeenQueue = {
  kind: 'seen',
  state: 'running',
  tasks: { kind: 'counted', depth: 0, isCut: false },
};

/** Reads the queues with a separate client, because an instance that reads them seldom enqueues. */
export function lazyQueueProbe(
  settings: Pick<Settings, 'project' | 'region' | 'tasksHost' | 'drive' | 'pools'>,
): QueueProbe {
  const { project, region: location, tasksHost, drive, pools } = settings;
  const classes = [drive, ...Object.values(pools)];
  const queues: readonly WatchedQueue[] = [
    ...classes.flatMap(({ shared, alone }) => [
      { name: shared.name, isAlone: false },
      { name: alone.name, isAlone: true },
    ]),
    ...classes.flatMap(({ shared, spread }) =>
      furtherQueues(shared.name, spread?.queues ?? 1).map((name) => ({
        name,
        isAlone: false,
        of: shared.name,
      })),
    ),
  ];
  const further = new Set(queues.flatMap(({ name, of }) => (of === undefined ? [] : [name])));
  const connected = connectedOnce(
    async () => new CloudTasksProbe({ client: await tasksClient(tasksHost), project, location }),
  );
  return {
    queues,
    async inspect(now, name) {
      const seen = await (await connected()).inspect(now, name);
      // The local cloud creates further queues with its first task (`makeLocalQueues`).
      return tasksHost !== undefined && seen.kind === 'missing' && further.has(name) ? EMPTY : seen;
    },
  };
}

async function connect({ settings, clock, random, timeoutMs }: LazyQueueOptions): Promise<TaskQueue> {
  const wire = wireTo(settings.tasksHost, settings.wireHosts);
  const [client, serviceAccountEmail] = await Promise.all([
    wire ? tasksByFrames(wire) : tasksClient(settings.tasksHost),
    accountOf(settings),
  ]);
  const { project, region: location, drive, pools } = settings;
  if (settings.tasksHost !== undefined) {
    const connected = () => (wire ? makerByFrames(wire) : tasksClient(settings.tasksHost));
    try {
      await makeLocalQueues(connected, settings);
    } catch (error) {
      // If a further queue of a class is missing, the first one is used. Tasks of a missing class fail by themselves.
      if (!isUnserved(error)) throw error;
    }
  }
  return new CloudTasksQueue({
    client,
    project,
    location,
    queues: drive,
    pools,
    serviceAccountEmail,
    clock,
    random,
    timeoutMs,
  });
}

/** The local cloud has no deployments. It creates the queue of each function, and the further queues copy its settings. */
async function makeLocalQueues(connected: () => Promise<QueueMaker>, settings: QueueSettings): Promise<void> {
  const { project, region, drive, pools } = settings;
  const location = `projects/${project}/locations/${region}/queues`;
  let maker: QueueMaker | undefined;
  for (const { shared, spread } of [drive, ...Object.values(pools)]) {
    const further = furtherQueues(shared.name, spread?.queues ?? 1);
    if (further.length === 0) continue;
    maker ??= await connected();
    const client = maker;
    const [{ rateLimits, retryConfig }] = await client.getQueue({ name: `${location}/${shared.name}` });
    await Promise.all(
      further.map((name) =>
        client.updateQueue({ queue: { name: `${location}/${name}`, rateLimits, retryConfig } }),
      ),
    );
  }
}

/** True if the server has no such queue, or does not support changing queues. */
function isUnserved(error: unknown): boolean {
  const status = grpcStatusOf(error);
  return status === GRPC_STATUS.NOT_FOUND || status === GRPC_STATUS.UNIMPLEMENTED;
}

interface QueueSizes {
  readonly rateLimits?: object | null | undefined;
  readonly retryConfig?: object | null | undefined;
}

/** The part of `CloudTasksClient` that {@link makeLocalQueues} uses. */
interface QueueMaker {
  getQueue(request: { name: string }): Promise<readonly [QueueSizes, ...unknown[]]>;
  updateQueue(request: { queue: QueueSizes & { name: string } }): Promise<unknown>;
}

async function tasksClient(host: string | undefined): Promise<Client> {
  const { CloudTasksClient } = await import('@google-cloud/tasks');
  if (host === undefined) {
    const client = new CloudTasksClient();
    // Finds credentials. Without it the first call does, whose failure is an unhandled rejection too.
    await client.initialize();
    return client as Client;
  }
  const [apiEndpoint = '', port] = host.split(':');
  const { credentials } = await import('@grpc/grpc-js');
  const sslCreds = credentials.createInsecure();
  return new CloudTasksClient({ apiEndpoint, port: Number(port), sslCreds }) as Client;
}

const SERVICE = '/google.cloud.tasks.v2.CloudTasks';

async function tasksByFrames(wire: Wire): Promise<TasksClient> {
  const { protos } = await import('@google-cloud/tasks');
  const { CreateTaskRequest } = protos.google.cloud.tasks.v2;
  return {
    createTask: (request, { timeout }) =>
      wire.call(
        `${SERVICE}/CreateTask`,
        CreateTaskRequest.encode(CreateTaskRequest.fromObject(request)).finish(),
        timeout,
      ),
  };
}

async function makerByFrames(wire: Wire): Promise<QueueMaker> {
  const { protos } = await import('@google-cloud/tasks');
  const { GetQueueRequest, UpdateQueueRequest, Queue } = protos.google.cloud.tasks.v2;
  const call = (name: string, request: Uint8Array) =>
    wire.call(`${SERVICE}/${name}`, request, MAKE_TIMEOUT_MS);
  return {
    getQueue: async (request) => [
      Queue.decode(
        await call('GetQueue', GetQueueRequest.encode(GetQueueRequest.fromObject(request)).finish()),
      ),
    ],
    updateQueue: (request) =>
      call('UpdateQueue', UpdateQueueRequest.encode(UpdateQueueRequest.fromObject(request)).finish()),
  };
}

async function accountOf({ serviceAccount, tasksHost }: QueueSettings): Promise<string> {
  if (serviceAccount !== undefined) return serviceAccount;
  if (tasksHost !== undefined) return LOCAL_ACCOUNT;
  const answer = await fetch(METADATA_URL, {
    headers: { 'Metadata-Flavor': 'Google' },
    signal: AbortSignal.timeout(METADATA_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Error(
      `the metadata server does not answer, which a function of Google Cloud asks for its account (${messageOf(cause)}). Firebase's emulators do not dispatch runs: use cairn dev`,
      { cause },
    );
  });
  if (!answer.ok) throw new Error(`the metadata server answered ${answer.status}`);
  return (await answer.text()).trim();
}
