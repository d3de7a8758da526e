/** A Cloud Tasks server with the unmodified client, a recording target, and a clock the test moves. */
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import type { StorageChoice } from '../../../packages/local-kit/src/sqlite/grouped-database.ts';
import { type MovableClock, movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import type { DispatchRequest, DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';
import { startTasksServer, type TasksServer } from '../../../packages/local-tasks/src/server.ts';

// Otherwise the client looks for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

import { until } from '../support.ts';

export const LOCATION = 'projects/demo-cairn/locations/us-central1';
export const QUEUE = `${LOCATION}/queues/work`;

export type Answer = DispatchResult | ((request: DispatchRequest) => Promise<DispatchResult>);

export interface TasksFixture {
  readonly client: CloudTasksClient;
  readonly server: TasksServer;
  readonly clock: MovableClock;
  /** Lets all deadlines of dispatches under way pass that are at most so long. */
  elapse(ms: number): void;
  /** Every dispatch so far, in order. */
  readonly requests: DispatchRequest[];
  /** Responses to the next dispatches, in order; then 200. */
  readonly answers: Answer[];
  /** Resolves when there were `count` dispatches. */
  dispatched(count: number): Promise<void>;
  /** Resolves when the queue holds no task. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export const answered = (status: number, retryAfter?: string): DispatchResult => ({
  kind: 'answered',
  status,
  retryAfter,
});

/** Time stands still unless the test moves it, so that schedules and backoffs are exact. */
export async function startTasks(
  storage: StorageChoice = { kind: 'memory' },
  { appEngineUrl, answers = [] }: { readonly appEngineUrl?: string; readonly answers?: Answer[] } = {},
): Promise<TasksFixture> {
  const began = Date.UTC(2026, 0, 1);
  const deadlines = new Set<{ readonly ms: number; readonly wake: () => void }>();
  const clock: MovableClock = {
    ...movableClock(() => began),
    after(ms, wake) {
      const deadline = { ms, wake };
      deadlines.add(deadline);
      return () => void deadlines.delete(deadline);
    },
  };
  const requests: DispatchRequest[] = [];
  let ids = 0;
  const server = await startTasksServer({
    storage,
    clock,
    ...(appEngineUrl !== undefined && { appEngineUrl }),
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
    elapse(ms) {
      for (const { ms: due, wake } of deadlines) if (due <= ms) wake();
    },
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
