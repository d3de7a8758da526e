/** Services for functions under firebase-tools: the local Firestore and Cloud Tasks, and a receiver that notes what it is called for. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FirestoreServer, startFirestoreServer } from '@cairn/local-firestore/server';
import { movableClock } from '@cairn/local-kit/time/clock';
import { dispatchOverHttp } from '@cairn/local-tasks/over-http';
import { startTasksServer, type TasksServer } from '@cairn/local-tasks/server';
import { writeDevClient } from '../../../packages/local/src/dev-client.ts';
import { specOf } from '../../../packages/local/src/host/function-spec.ts';
import { queueOf } from '../../../packages/local/src/host/queue-of.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Listening {
  readonly url: string;
  stop(): Promise<void>;
}

export async function listen(answer: RequestListener): Promise<Listening> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export class Services {
  readonly received: Received[] = [];
  readonly firestore: FirestoreServer;
  readonly tasks: TasksServer;
  readonly receiver: Listening;

  private constructor(
    firestore: FirestoreServer,
    tasks: TasksServer,
    receiver: Listening,
    received: Received[],
  ) {
    this.firestore = firestore;
    this.tasks = tasks;
    this.receiver = receiver;
    this.received = received;
  }

  static async start(): Promise<Services> {
    const received: Received[] = [];
    const receiver = await listen(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ nth: received.length }));
    });
    const firestore = await startFirestoreServer({ storage: { kind: 'memory' } });
    let taskId = 0;
    const tasks = await startTasksServer({
      storage: { kind: 'memory' },
      clock: movableClock(Date.now),
      dispatch: dispatchOverHttp,
      freshTaskId: () => String(++taskId),
    });
    tasks.start();
    return new Services(firestore, tasks, receiver, received);
  }

  /** As a deployment makes it for a function of that name. */
  makeQueue(projectId: string, name: string): void {
    const spec = specOf(name, { taskQueueTrigger: { retryConfig: { maxAttempts: 100 } } }, 'us-central1');
    if (spec.trigger.kind !== 'task-queue') throw new Error(`${name} has no queue`);
    this.tasks.ensureQueue(queueOf(projectId, spec, spec.trigger));
  }

  /** @returns a key of that installation alone */
  async makeKey(projectId: string, place: { database: string; collectionPrefix: string }): Promise<string> {
    const secret = `of-${place.database}-${place.collectionPrefix}`.replace(/[()]/g, '').padEnd(32, 'x');
    await writeDevClient({ firestore: this.firestore.host, projectId, ...place, secret, now: Date.now() });
    return `cairn_dev_${secret}`;
  }

  async stop(): Promise<void> {
    await this.tasks.stop();
    await this.firestore.stop();
    await this.receiver.stop();
  }
}
