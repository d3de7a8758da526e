import { CloudTasksClient } from '@google-cloud/tasks';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lazyQueueProbe } from '../../../packages/cairn/src/platform/clients/tasks.ts';
import { CloudTasksProbe, type QueueClient } from '../../../packages/cairn/src/queue/cloud-tasks-probe.ts';
import { LOCATION, startTasks, type TasksFixture } from '../../local/tasks/tasks-fixture.ts';

const DRIVE = `${LOCATION}/queues/drive`;

let tasks: TasksFixture;
let now: number;

beforeAll(async () => {
  tasks = await startTasks();
});
afterAll(() => tasks.stop());

const called = (name: string) => ({ name, targetUrl: 'http://127.0.0.1:1/' });
const look = () =>
  lazyQueueProbe({
    project: 'demo-cairn',
    region: 'us-central1',
    tasksHost: tasks.server.host,
    drive: { shared: called('drive'), alone: called('driveAlone') },
    pools: { heavy: { shared: called('drive-heavy'), alone: called('drive-heavyAlone') } },
  });
const add = (inMs: number) =>
  tasks.client.createTask({
    parent: DRIVE,
    task: {
      httpRequest: { url: 'http://127.0.0.1:1/' },
      scheduleTime: { seconds: Math.floor((now + inMs) / 1_000), nanos: ((now + inMs) % 1_000) * 1e6 },
    },
  });

beforeEach(() => {
  now = tasks.clock.now();
});

test('a missing queue is reported as missing', async () => {
  expect(await look().inspect(now, 'drive')).toEqual({ kind: 'missing' });
});

test('a queue reports its state, its depth, and for how long its first task has been due', async () => {
  await tasks.client.createQueue({ parent: LOCATION, queue: { name: DRIVE } });
  const counted = { kind: 'counted', isCut: false };
  expect(await look().inspect(now, 'drive')).toEqual({
    kind: 'seen',
    state: 'running',
    tasks: { ...counted, depth: 0 },
  });
  await tasks.client.pauseQueue({ name: DRIVE });
  await add(0);
  await add(3_600_000);
  expect(await look().inspect(now + 90_500, 'drive')).toEqual({
    kind: 'seen',
    state: 'paused',
    tasks: { ...counted, depth: 2, oldestDueAt: now },
  });
});

test('each queue is probed by its name, including those of drive classes', async () => {
  expect(look().queues).toEqual([
    { name: 'drive', isAlone: false },
    { name: 'driveAlone', isAlone: true },
    { name: 'drive-heavy', isAlone: false },
    { name: 'drive-heavyAlone', isAlone: true },
  ]);
  expect(await look().inspect(now, 'drive-heavy')).toEqual({ kind: 'missing' });
  expect(await look().inspect(now, 'driveAlone')).toEqual({ kind: 'missing' });
});

test('several queues of one function are probed, and a missing one is named with the one that replaces it', async () => {
  const several = (name: string) => ({
    shared: called(name),
    alone: called(`${name}Alone`),
    spread: { queues: 2, perTenant: 1 },
  });
  const probe = lazyQueueProbe({
    project: 'demo-cairn',
    region: 'us-central1',
    tasksHost: tasks.server.host,
    drive: several('drive'),
    pools: { heavy: several('drive-heavy') },
  });
  expect(probe.queues.slice(4)).toEqual([
    { name: 'drive-2', isAlone: false, of: 'drive' },
    { name: 'drive-heavy-2', isAlone: false, of: 'drive-heavy' },
  ]);
  // The local cloud creates it with the first task.
  expect(await probe.inspect(now, 'drive-2')).toMatchObject({ kind: 'seen', tasks: { depth: 0 } });
  expect(await probe.inspect(now, 'drive-heavy')).toEqual({ kind: 'missing' });
});

test('tasks beyond one page are not counted', async () => {
  await Promise.all(Array.from({ length: 999 }, () => add(3_600_000)));
  expect(await look().inspect(now, 'drive')).toMatchObject({ tasks: { depth: 1_000, isCut: true } });
});

const refusing = (code: number) => () => Promise.reject(Object.assign(new Error(`status ${code}`), { code }));
const made = (client: Partial<QueueClient>) =>
  new CloudTasksProbe({
    client: {
      getQueue: async () => [{ state: 'RUNNING' }],
      listTasks: async () => [[], null],
      ...client,
    },
    project: 'p',
    location: 'l',
  });

test('a missing permission is reported, for the queue or for its tasks', async () => {
  expect(await made({ getQueue: refusing(7) }).inspect(0, 'drive')).toEqual({ kind: 'denied' });
  expect(await made({ listTasks: refusing(7) }).inspect(0, 'drive')).toEqual({
    kind: 'seen',
    state: 'running',
    tasks: { kind: 'denied' },
  });
  await expect(made({ getQueue: refusing(14) }).inspect(0, 'drive')).rejects.toThrow('status 14');
});

test('the generated client has the methods that are called', () => {
  const accepts = (client: CloudTasksClient): QueueClient => client as QueueClient;
  expect(accepts(tasks.client)).toBeInstanceOf(CloudTasksClient);
});
