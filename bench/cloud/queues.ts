/** Operator access to the queues of a local cloud. */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import type { Ready } from '../../packages/local/src/cloud-process.ts';

/** Each call applies to all queues. */
export interface Queues {
  /** Stops dispatches until the queues are resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Deletes all tasks. */
  purge(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Location of the queues of the local cloud. */
const REGION = 'us-central1';

export function openQueues({ tasks, projectId }: Ready): Queues {
  const [apiEndpoint = '', port] = tasks.split(':');
  const client = new CloudTasksClient({
    apiEndpoint,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
    projectId,
  });
  const each = async (change: (queue: { name: string }) => Promise<unknown>) => {
    const [queues] = await client.listQueues({ parent: client.locationPath(projectId, REGION) });
    for (const { name } of queues) await change({ name: name ?? '' });
  };
  return {
    pause: () => each((queue) => client.pauseQueue(queue)),
    resume: () => each((queue) => client.resumeQueue(queue)),
    purge: () => each((queue) => client.purgeQueue(queue)),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
