/** The workers that requests share with tasks, and the end of the sharing. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import type { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';
import { until } from '../support.ts';
import { API, MANY, makePool, PLAIN } from './pool-fixture.ts';

let pool: WorkerPool;
beforeEach(() => {
  ({ pool } = makePool({ keepsSpare: true }));
  return pool.start();
});
afterEach(() => pool.stop());

const pidsOf = (role: string) => pool.pidsByRole[role] ?? [];
/** Worker processes by role, `requests:1 tasks:1` for example. */
const counts = () => ['requests', 'tasks'].map((role) => `${role}:${pidsOf(role).length}`).join(' ');

const serve = async (spec: FunctionSpec) => {
  const lease = await pool.acquire(spec);
  const { port, isShared } = lease;
  lease.release();
  return { port, isShared };
};

test('requests and tasks share a worker', async () => {
  expect(counts()).toBe('requests:0 tasks:1');
  const [task, request] = [await serve(MANY), await serve(API)];
  expect(request).toEqual({ port: task.port, isShared: true });
  expect(task.isShared).toBe(false);
  expect(counts()).toBe('requests:0 tasks:1');
});

test('they do not share it if a request could not be sent to another worker', async () => {
  const task = await serve(MANY);
  const request = await serve(PLAIN);
  expect(request.port).not.toBe(task.port);
  expect(request.isShared).toBe(false);
  expect(counts()).toBe('requests:1 tasks:1');
  expect((await serve(API)).port).toBe(task.port);
});

test('they have workers of their own once a task was late, and the requests under way hear of it', async () => {
  await until(() => pidsOf('spare').length === 1, 'the spare to be ready');
  const task = await pool.acquire(MANY);
  const request = await pool.acquire(API);
  let heard = 0;
  request.onBlocked = () => {
    heard += 1;
  };
  task.late();
  expect(heard).toBe(1);
  expect(pidsOf('requests')).toHaveLength(1);
  task.release();
  request.release();
  await serve(PLAIN);
  const own = await serve(API);
  expect(own.isShared).toBe(false);
  expect(own.port).not.toBe(task.port);
  (await pool.acquire(MANY)).late();
  expect(heard).toBe(1);
});

test('they have workers of their own once one of them has died', async () => {
  await serve(MANY);
  const [pid = 0] = pidsOf('tasks');
  process.kill(pid, 'SIGKILL');
  await until(() => pidsOf('requests').length === 1 && !pidsOf('tasks').includes(pid), 'its replacement');
  await serve(PLAIN);
  expect((await serve(API)).port).not.toBe((await serve(MANY)).port);
  expect(counts()).toBe('requests:1 tasks:1');
});

test('they go on sharing it if it was late without a task, as on a busy machine', async () => {
  const request = await pool.acquire(API);
  request.late();
  request.release();
  expect((await serve(API)).isShared).toBe(true);
  expect(counts()).toBe('requests:0 tasks:1');
});

test('requests are served by the workers of tasks until that of the requests serves', async () => {
  const task = await pool.acquire(MANY);
  task.late();
  const request = await pool.acquire(API);
  expect(request.isShared).toBe(false);
  expect(request.port).toBe(task.port);
  request.release();
  task.release();
});

test('they have workers of their own if a worker of both no longer responds', async () => {
  const blocked = await serve(MANY);
  const held = [await pool.acquire(MANY), await pool.acquire(API)];
  const [pid = 0] = pidsOf('tasks');
  process.kill(pid, 'SIGSTOP');
  await until(() => pidsOf('requests').length === 1, 'the missing answer to a probe');
  await serve(PLAIN);
  expect((await serve(API)).port).not.toBe(blocked.port);
  for (const { release } of held) release();
  process.kill(pid, 'SIGKILL');
});
