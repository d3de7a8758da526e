import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type App, deleteApp, initializeApp } from 'firebase-admin/app';
import { getFunctions, type TaskQueue } from 'firebase-admin/functions';
import { QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

let tasks: TasksFixture;
let app: App;
let queue: TaskQueue;

beforeAll(async () => {
  tasks = await startTasks();
  await tasks.client.createQueue({ parent: QUEUE.replace(/\/queues\/.*/, ''), queue: { name: QUEUE } });
  // Read when the client of the queue is created.
  process.env.CLOUD_TASKS_EMULATOR_HOST = tasks.server.host;
  app = initializeApp({ projectId: 'demo-cairn' }, 'admin-queue');
  queue = getFunctions(app).taskQueue('work');
});
afterAll(async () => {
  delete process.env.CLOUD_TASKS_EMULATOR_HOST;
  await deleteApp(app);
  await tasks.stop();
});

test('firebase-admin enqueues a task of the function its queue is named after, at its time', async () => {
  await queue.enqueue({ n: 1 });
  await tasks.dispatched(1);
  const [first] = tasks.requests;
  expect(first?.url).toMatch(/\/work$/);
  expect(JSON.parse(Buffer.from(first?.body ?? []).toString())).toEqual({ data: { n: 1 } });
  const scheduleTime = new Date(tasks.clock.now() + 60_000);
  await queue.enqueue({ n: 2 }, { scheduleTime, id: 'chosen', dispatchDeadlineSeconds: 20 });
  const [waiting] = await tasks.client.getTask({ name: `${QUEUE}/tasks/chosen` });
  expect(Number(waiting.scheduleTime?.seconds) * 1000).toBe(scheduleTime.getTime());
  expect(tasks.requests).toHaveLength(1);
  tasks.clock.advance(60_000);
  await tasks.dispatched(2);
});

test('a used name is refused, and a task can be deleted before its time', async () => {
  const later = { scheduleTime: new Date(tasks.clock.now() + 60_000), id: 'twice' };
  await queue.enqueue({}, later);
  await expect(queue.enqueue({}, later)).rejects.toMatchObject({
    code: 'functions/task-already-exists',
  });
  await queue.delete('twice');
  await tasks.drained();
  await expect(getFunctions(app).taskQueue('nowhere').enqueue({})).rejects.toThrow(/Queue does not exist/);
});

test('web pages and foreign names are refused', async () => {
  const statusFor = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`http://${tasks.server.host}/${QUEUE}/tasks`, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end('{}');
    });
  expect(await statusFor({ origin: 'http://localhost:5173' })).toBe(403);
  expect(await statusFor({ host: 'rebound.example' })).toBe(403);
  expect(await statusFor({})).toBe(400);
});
