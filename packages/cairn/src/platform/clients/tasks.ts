/**
 * The queue of this process. The client library is large and a reader of runs never enqueues, so it is loaded with
 * the first task.
 */
import type { Clock } from '../../ports/clock.ts';
import type { QueueLook } from '../../ports/diagnosis/queue-look.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { TaskQueue } from '../../ports/task-queue.ts';
import { CloudTasksLook, type QueueClient } from '../../queue/cloud-tasks-look.ts';
import { CloudTasksQueue, type TasksClient } from '../../queue/cloud-tasks-queue.ts';
import type { Settings } from '../params.ts';

/** Task queue functions have a queue of their own name. */
const QUEUE = 'drive';
const METADATA_URL =
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/email';
const METADATA_TIMEOUT_MS = 3_000;
/** Nobody checks it there; the form has to be right. */
const LOCAL_ACCOUNT = 'drive@cairn.invalid';

export interface LazyQueueOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Randomness;
}

export function lazyQueue(options: LazyQueueOptions): TaskQueue {
  let queue: Promise<TaskQueue> | undefined;
  return {
    async enqueue(task) {
      queue ??= connect(options);
      const connected = await queue.catch((error: unknown) => {
        // The next task tries again: the metadata server may only have been slow.
        queue = undefined;
        throw error;
      });
      await connected.enqueue(task);
    },
  };
}

/** What the queue tells of itself, by a client of its own: who asks seldom enqueues. */
export function lazyQueueLook(settings: Pick<Settings, 'project' | 'region' | 'tasksHost'>): QueueLook {
  const { project, region: location, tasksHost } = settings;
  let connected: Promise<QueueLook> | undefined;
  return {
    async look(now) {
      connected ??= tasksClient(tasksHost).then(
        (client) => new CloudTasksLook({ client, project, location, queue: QUEUE }),
      );
      return (await connected).look(now);
    },
  };
}

async function connect({ settings, clock, random }: LazyQueueOptions): Promise<TaskQueue> {
  const [client, serviceAccountEmail] = await Promise.all([
    tasksClient(settings.tasksHost),
    accountOf(settings),
  ]);
  const { project, region: location, driveUrl: targetUrl } = settings;
  return new CloudTasksQueue({
    client,
    project,
    location,
    queue: QUEUE,
    targetUrl,
    serviceAccountEmail,
    clock,
    random,
  });
}

async function tasksClient(host: string | undefined): Promise<TasksClient & QueueClient> {
  const { CloudTasksClient } = await import('@google-cloud/tasks');
  if (host === undefined) return new CloudTasksClient() as TasksClient & QueueClient;
  const [apiEndpoint = '', port] = host.split(':');
  const { credentials } = await import('@grpc/grpc-js');
  const sslCreds = credentials.createInsecure();
  return new CloudTasksClient({ apiEndpoint, port: Number(port), sslCreds }) as TasksClient & QueueClient;
}

async function accountOf({ serviceAccount, tasksHost }: Settings): Promise<string> {
  if (serviceAccount !== undefined) return serviceAccount;
  if (tasksHost !== undefined) return LOCAL_ACCOUNT;
  const answer = await fetch(METADATA_URL, {
    headers: { 'Metadata-Flavor': 'Google' },
    signal: AbortSignal.timeout(METADATA_TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`the metadata server answered ${answer.status}`);
  return (await answer.text()).trim();
}
