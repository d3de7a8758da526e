/** Several queues of one function in the local Cloud Tasks, by the unmodified client, while their number changes. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lazyQueue } from '../../../packages/cairn/src/platform/clients/tasks.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';
import { until } from '../../local/support.ts';
import { LOCATION, startTasks, type TasksFixture } from '../../local/tasks/tasks-fixture.ts';

const RUNS = Array.from({ length: 30 }, (_, at) => `run_${at}`);
const SIZES = {
  rateLimits: { maxConcurrentDispatches: 700, maxDispatchesPerSecond: 400 },
  retryConfig: { maxAttempts: 42 },
};

let tasks: TasksFixture;
beforeEach(async () => {
  tasks = await startTasks();
  for (const id of ['drive', 'driveAlone'])
    await tasks.client.createQueue({
      parent: LOCATION,
      queue: { name: `${LOCATION}/queues/${id}`, ...SIZES },
    });
});
afterEach(() => tasks.stop());

const queueOf = (queues: number) =>
  lazyQueue({
    settings: {
      project: 'demo-cairn',
      region: 'us-central1',
      tasksHost: tasks.server.host,
      wireHosts: new Set([tasks.server.host]),
      drive: {
        shared: { name: 'drive', targetUrl: 'http://127.0.0.1:1/drive' },
        alone: { name: 'driveAlone', targetUrl: 'http://127.0.0.1:1/driveAlone' },
        spread: { queues, perTenant: 2 },
      },
      pools: {},
      serviceAccount: undefined,
    },
    clock: systemClock,
    random: { unit: () => 0.5, token: () => 't', runId: () => 'run_1' },
  });

async function enqueueAll(queues: number, name: (runId: string) => string): Promise<void> {
  const queue = queueOf(queues);
  for (const runId of RUNS)
    await queue.enqueue({ runId, tenantId: `tenant of ${runId}`, reason: 'retry', name: name(runId) });
}

const setState = async (to: 'pauseQueue' | 'resumeQueue') => {
  const [queues] = await tasks.client.listQueues({ parent: LOCATION });
  for (const { name } of queues) await tasks.client[to]({ name: name ?? '' });
};

const runsSent = () =>
  tasks.requests.map(({ body }) => JSON.parse(Buffer.from(body).toString()).data.runId as string).sort();

test('the local cloud creates them like that of the function', async () => {
  await enqueueAll(5, (runId) => runId);
  const [queues] = await tasks.client.listQueues({ parent: LOCATION });
  expect(queues.map(({ name }) => name?.split('/').at(-1)).sort()).toEqual(
    ['drive', 'drive-2', 'drive-3', 'drive-4', 'drive-5', 'driveAlone'].sort(),
  );
  for (const queue of queues) expect(queue).toMatchObject(SIZES);
  await tasks.dispatched(RUNS.length);
  expect(runsSent()).toEqual([...RUNS].sort());
});

test('all their tasks are delivered after the number was lowered, and none is lost while it grows', async () => {
  await enqueueAll(6, (runId) => `first-${runId}`);
  await tasks.dispatched(RUNS.length);
  tasks.requests.length = 0;
  await setState('pauseQueue');
  await enqueueAll(6, (runId) => `of-six-${runId}`);
  await enqueueAll(1, (runId) => `of-one-${runId}`);
  await enqueueAll(9, (runId) => `of-nine-${runId}`);
  await setState('resumeQueue');
  await tasks.dispatched(3 * RUNS.length);
  expect(runsSent()).toEqual([...RUNS, ...RUNS, ...RUNS].sort());
});

test('a name used before and after the number has grown is delivered at least once, and at most once per queue', async () => {
  await enqueueAll(6, (runId) => runId);
  await enqueueAll(6, (runId) => runId);
  await enqueueAll(9, (runId) => runId);
  await until(() => new Set(runsSent()).size === RUNS.length, 'a dispatch of every run');
  expect(tasks.requests.length).toBeLessThanOrEqual(2 * RUNS.length);
});
