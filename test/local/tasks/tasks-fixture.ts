/** A Cloud Tasks server with the unmodified client, a recording target, and a clock the test moves. */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import type { SqliteStorage } from '../../../local/sqlite/grouped-database.ts';
import type { DispatchOutcome, DispatchRequest } from '../../../local/tasks/attempt.ts';
import { startTasksServer, type TasksServer } from '../../../local/tasks/server.ts';
import { type MovableClock, movableClock } from '../../../local/time/clock.ts';

// Otherwise the client looks for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

import { until } from '../support.ts';

export const LOCATION = 'projects/demo-cairn/locations/us-central1';
export const QUEUE = `${LOCATION}/queues/work`;

export type Answer = DispatchOutcome | ((request: DispatchRequest) => Promise<DispatchOutcome>);

export interface TasksFixture {
  readonly client: CloudTasksClient;
  readonly server: TasksServer;
  readonly clock: MovableClock;
  /** Every dispatch so far, in order. */
  readonly requests: DispatchRequest[];
  /** What the next dispatches get, in order; when it is used up: 200. */
  readonly answers: Answer[];
  /** Resolves when there were `count` dispatches. */
  dispatched(count: number): Promise<void>;
  /** Resolves when the queue holds no task. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export const answered = (status: number, retryAfter?: string): DispatchOutcome => ({
  kind: 'answered',
  status,
  retryAfter,
});

/** Time stands still unless the test moves it, so that schedules and backoffs are exact. */
export async function startTasks(storage: SqliteStorage = { kind: 'memory' }): Promise<TasksFixture> {
  const began = Date.UTC(2026, 0, 1);
  const clock = movableClock(() => began);
  const requests: DispatchRequest[] = [];
  const answers: Answer[] = [];
  let ids = 0;
  const server = await startTasksServer({
    storage,
    clock,
    freshTaskId: () => String(++ids + 10 ** 15),
    async dispatch(request) {
      requests.push(request);
      const answer = answers.shift() ?? answered(200);
      return typeof answer === 'function' ? answer(request) : answer;
    },
  });
  server.start();
  const [apiEndpoint = '', port = ''] = server.host.split(':');
  const client = new CloudTasksClient({
    apiEndpoint,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
    projectId: 'demo-cairn',
  });
  return {
    client,
    server,
    clock,
    requests,
    answers,
    dispatched: (count) => until(() => requests.length >= count, `${count} dispatches`),
    drained: () =>
      until(async () => {
        const [tasks] = await client.listTasks({ parent: QUEUE });
        return tasks.length === 0;
      }, 'an empty queue'),
    async stop() {
      await client.close();
      await server.stop();
    },
  };
}
