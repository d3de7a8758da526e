/** The workers that requests share with tasks, and the end of the sharing. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import type { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';
import { signalTo } from '../../support/processes.ts';
import { until } from '../support.ts';
import { API, MANY, makePool, PLAIN } from './pool-fixture.ts';

let pool: WorkerPool;
beforeEach(() => {
  ({ pool } = makePool({ keepsSpare: true }));
  return pool.start();
});
afterEach(() => pool.stop());

const FRAMES = { byFrames: true };
const pidsOf = (role: string) => pool.pidsByRole[role] ?? [];
/** Worker processes by role, `requests:1 tasks:1` for example. */
const counts = () => ['requests', 'tasks'].map((role) => `${role}:${pidsOf(role).length}`).join(' ');

const serve = async (spec: FunctionSpec) => {
  const lease = await pool.acquire(spec, { byFrames: spec === API });
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

test('they do not share it if the request could not leave a worker that a body blocks', async () => {
  const task = await serve(MANY);
  const request = await serve(PLAIN);
  expect(request.port).not.toBe(task.port);
  expect(request.isShared).toBe(false);
  expect(counts()).toBe('requests:1 tasks:1');
  expect((await serve(API)).port).toBe(task.port);
});

/** Blocks a worker with a task, and gives it a second task that it does not take in time. */
async function blockWorker() {
  const held = [await pool.acquire(MANY), await pool.acquire(MANY)];
  held[1]?.late();
  return { port: held[0]?.port, release: () => held.forEach(({ release }) => void release()) };
}

/** Starts a request, and counts how often it was told to leave its worker. */
async function begin() {
  const lease = await pool.acquire(API, FRAMES);
  const begun = { ...lease, told: 0 };
  lease.onBlocked = () => {
    begun.told += 1;
  };
  return begun;
}

test('they have separate workers once a body blocks one, and current requests leave it', async () => {
  await until(() => pidsOf('spare').length === 1, 'the spare to be ready');
  const request = await begin();
  const blocked = await blockWorker();
  expect(request.told).toBeGreaterThan(0);
  expect(pidsOf('requests')).toHaveLength(1);
  request.release();
  blocked.release();
  await serve(PLAIN);
  const own = await serve(API);
  expect(own.isShared).toBe(false);
  expect(own.port).not.toBe(blocked.port);
});

test('requests stay in task workers until a request worker serves, and then leave them', async () => {
  const blocked = await blockWorker();
  blocked.release();
  const request = await begin();
  expect(request.isShared).toBe(true);
  await until(() => request.told > 0, 'the worker of the requests');
  request.release();
  const { port } = await serve(PLAIN);
  expect((await serve(API)).port).toBe(port);
});

test('they have separate workers once one of them has died', async () => {
  await serve(MANY);
  const [pid] = pidsOf('tasks');
  signalTo(pid, 'SIGKILL');
  await until(() => pidsOf('requests').length === 1 && !pidsOf('tasks').includes(pid), 'its replacement');
  await serve(PLAIN);
  expect((await serve(API)).port).not.toBe((await serve(MANY)).port);
  expect(counts()).toBe('requests:1 tasks:1');
});

test.each([
  ['a request', API],
  ['the first task', MANY],
])('they continue to share it if only %s was late, as on a busy machine', async (_what, spec) => {
  const late = await pool.acquire(spec, FRAMES);
  late.late();
  late.release();
  expect((await serve(API)).isShared).toBe(true);
  expect(counts()).toBe('requests:0 tasks:1');
});

test.each([
  ['does not answer a probe', true],
  ['hangs in its first task', false],
])('a request leaves a worker that %s, and they have separate workers', async (_what, isUsed) => {
  if (isUsed) await serve(MANY);
  const task = await pool.acquire(MANY);
  const request = await begin();
  const [pid] = pidsOf('tasks');
  signalTo(pid, 'SIGSTOP');
  await until(() => request.told > 0 && pidsOf('requests').length === 1, 'the end of the sharing');
  await serve(PLAIN);
  expect((await serve(API)).port).not.toBe(task.port);
  request.release();
  task.release();
  signalTo(pid, 'SIGKILL');
});

test('a pool that ends starts no workers for them', async () => {
  const request = await begin();
  const held = [await pool.acquire(MANY), await pool.acquire(MANY)];
  const before = pool.pids;
  void pool.retire();
  held[1]?.late();
  expect(request.told).toBe(1);
  expect(pool.pids.filter((pid) => !before.includes(pid))).toEqual([]);
  for (const { release } of [request, ...held]) release();
});
