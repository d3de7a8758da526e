import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import { hasRoom } from '../../../packages/local/src/host/workers/roles.ts';
import type { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';
import { signalTo } from '../../support/processes.ts';
import { until } from '../support.ts';
import { API, MANY, makePool, PLAIN, SPEC } from './pool-fixture.ts';

let folder: string;
let pool: WorkerPool;
let log: readonly string[];
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-pool-'));
  return startPool({ keepsSpare: true });
});
afterEach(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

function startPool(options: Parameters<typeof makePool>[0]): Promise<void> {
  ({ pool, log, env } = makePool(options));
  return pool.start();
}

const alone = () => pool.pidsByRole['alone:one'] ?? [];
const pidsOf = (role: string) => pool.pidsByRole[role] ?? [];
/** Ends the sharing of workers, as a blocking body does, and waits until both roles serve. */
async function separate(): Promise<void> {
  const tasks = [await pool.acquire(MANY), await pool.acquire(MANY)];
  tasks[1]?.late();
  for (const { release } of tasks) release();
  for (const spec of [PLAIN, MANY]) (await pool.acquire(spec)).release();
}

test('a worker that is only probed, as after an aborted request, is not joined by the spare', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const { broken, release } = await pool.acquire(MANY);
  broken();
  const next = await pool.acquire(MANY);
  expect(pool.pidsByRole.tasks).toHaveLength(1);
  next.release();
  release();
});

test('a worker that is late is joined by the spare at once', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const { late, release } = await pool.acquire(MANY);
  late();
  const next = await pool.acquire(MANY);
  expect(pool.pidsByRole.tasks).toHaveLength(2);
  next.release();
  release();
});

test('a user whose aborted requests block workers leaves the others to the other users', async () => {
  const file = join(folder, 'blocked');
  writeFileSync(file, '');
  await pool.stop();
  await startPool({ keepsSpare: true, blocked: file });
  for (let blocked = 1; blocked <= 2; blocked += 1) {
    await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
    const lease = await pool.acquire(MANY, { user: 'ada' });
    lease.late();
    lease.broken();
    lease.release();
  }
  const granted: string[] = [];
  const leases = ['ada', 'bob'].map(async (user) => {
    const lease = await pool.acquire(MANY, { user });
    granted.push(user);
    lease.release();
  });
  await leases[1];
  expect(granted).toEqual(['bob']);
  rmSync(file);
  await Promise.all(leases);
});

test('a request is not moved from a worker that serves only one, and would end', async () => {
  const many = await pool.acquire(MANY);
  const one = await pool.acquire(SPEC);
  expect([many.isMovable, one.isMovable]).toEqual([true, false]);
  many.release();
  one.release();
});

test('an isolated function gets no task worker that requests share', async () => {
  const before = pidsOf('tasks');
  const { release } = await pool.acquire(SPEC);
  expect(alone()).not.toEqual(before);
  expect(pidsOf('tasks')).toEqual(before);
  release();
});

test('an isolated function gets the idle task worker if there is no spare', async () => {
  await separate();
  const before = pool.pidsByRole.tasks;
  const { release } = await pool.acquire(SPEC);
  expect(alone()).toEqual(before);
  release();
});

test('workers of tasks alone, also those that were spares, have a lower priority than the worker of requests', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const priorities = () =>
    Object.entries(pool.pidsByRole).flatMap(([role, pids]) =>
      pids.map((pid) => `${role} ${getPriority(pid) - getPriority()}`),
    );
  expect(priorities().sort()).toEqual(['spare 0', 'tasks 0']);
  await separate();
  await until(() => pidsOf('spare').length === 1, 'the next spare to be ready');
  expect(priorities().sort()).toEqual(['requests 0', 'spare 0', 'tasks 5']);
  const task = await pool.acquire(MANY);
  const { release } = await pool.acquire(SPEC);
  expect(priorities()).toContain('alone:one 5');
  release();
  task.release();
});

test('an isolated function gets a task worker that is about to be idle before a spare that is not loaded', async () => {
  await separate();
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const before = pool.pidsByRole.tasks;
  const task = await pool.acquire(MANY);
  const waiting = pool.acquire(SPEC);
  task.release();
  const { release } = await waiting;
  expect(alone()).toEqual(before);
  release();
});

test('an isolated function gets that spare if no loaded worker is about to be idle', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const before = pool.pidsByRole.spare;
  const task = await pool.acquire(MANY);
  const { release } = await pool.acquire(SPEC);
  expect(alone()).toEqual(before);
  release();
  task.release();
});

test('requests waiting for a full function are served in order, and do not delay other functions', async () => {
  const [many, other] = ['many', 'other'].map((name) => ({ ...SPEC, name, concurrency: 2 })) as [
    FunctionSpec,
    FunctionSpec,
  ];
  const held = [await pool.acquire(many), await pool.acquire(many)];
  const served: number[] = [];
  const waiting = [0, 1, 2].map(async (index) => {
    const lease = await pool.acquire(many);
    served.push(index);
    return lease;
  });
  const others = [await pool.acquire(other), await pool.acquire(other)];
  const last = pool.acquire(other);
  expect(served).toEqual([]);
  others[0]?.release();
  (await last).release();
  expect(served).toEqual([]);
  for (const lease of held) lease.release();
  const [first, second] = await Promise.all(waiting.slice(0, 2));
  expect(served).toEqual([0, 1]);
  first?.release();
  (await waiting[2])?.release();
  second?.release();
  others[1]?.release();
  expect(served).toEqual([0, 1, 2]);
});

test('a user that takes all places it may have delays itself, and neither the others nor their waiting requests', async () => {
  const many = { ...SPEC, name: 'many', concurrency: 16 };
  const take = (user: string) => pool.acquire(many, { user });
  const held = await Promise.all(Array.from({ length: 16 }, () => take('busy')));
  const served: string[] = [];
  const waiting = [1, 2].map(async (index) => {
    const lease = await take('busy');
    served.push(`busy ${index}`);
    return lease;
  });
  const neighbours = await Promise.all(Array.from({ length: 16 }, () => take('neighbour')));
  expect(served).toEqual([]);
  held[0]?.release();
  await waiting[0];
  expect(served).toEqual(['busy 1']);
  for (const { release } of [...held.slice(1), ...neighbours]) release();
  for (const lease of waiting) (await lease).release();
  expect(served).toEqual(['busy 1', 'busy 2']);
});

test('a worker of an isolated function serves one request, and exits normally', async () => {
  // Workers of earlier requests may still be ending.
  const seen = new Set<number>();
  const fresh = () => {
    const pids = alone().filter((pid) => !seen.has(pid));
    for (const pid of pids) seen.add(pid);
    return pids;
  };
  for (let round = 0; round < 2; round += 1) {
    const leases = [await pool.acquire(SPEC), await pool.acquire(SPEC), await pool.acquire(SPEC)];
    expect(fresh()).toHaveLength(3);
    for (const { release } of leases) release();
    const next = await pool.acquire(SPEC);
    expect(fresh()).toHaveLength(1);
    next.release();
  }
  expect(log).toEqual([]);
});

test('after such a worker died of its request, the next one is not a task worker', async () => {
  const { broken, release } = await pool.acquire(SPEC);
  const [pid] = alone();
  signalTo(pid, 'SIGKILL');
  broken();
  release();
  const tasks = () => pool.pidsByRole.tasks ?? [];
  await until(() => !alone().includes(pid ?? 0) && tasks().length === 1, 'the death to be noticed');
  const before = tasks();
  const next = await pool.acquire(SPEC);
  expect(tasks()).toEqual(before);
  expect(before).not.toContain(alone()[0]);
  next.release();
});

test('without a spare it waits for a new process, and a dead worker is replaced', async () => {
  await pool.stop();
  await startPool({ keepsSpare: false });
  const before = pool.pids;
  expect(before).toHaveLength(1);
  const task = await pool.acquire(MANY);
  const leases = await Promise.all([pool.acquire(SPEC), pool.acquire(SPEC)]);
  expect(before).not.toContain(alone()[0]);
  expect(before).not.toContain(alone()[1]);
  expect(pool.pids).toHaveLength(3);
  for (const { release } of leases) release();
  const [pid] = pool.pidsByRole.tasks ?? [];
  signalTo(pid, 'SIGKILL');
  task.broken();
  task.release();
  const next = await pool.acquire(MANY);
  expect(pool.pidsByRole.tasks).not.toContain(pid);
  next.release();
});

test('a spare that cannot be loaded is logged in one line, because the failed edit was logged with its stack', async () => {
  env.FAILS = 'index.ts:4\nSyntaxError: on purpose\n    at here';
  await until(() => log.length > 1, 'the spare to be started twice');
  for (const line of log)
    expect(line).toMatch(
      /^a spare worker could not load the functions \(index\.ts:4\); starting another in \d+ ms$/,
    );
  env.FAILS = '';
  await until(() => pool.pidsByRole.spare?.length === 1, 'a spare');
});

test('a worker that requests need and that cannot be loaded is logged with its stack', async () => {
  await pool.stop();
  await startPool({ keepsSpare: false });
  env.FAILS = 'index.ts:4\nSyntaxError: on purpose\n    at here';
  for (const pid of pool.pids) signalTo(pid, 'SIGKILL');
  await until(() => log.some((line) => line.includes('SyntaxError: on purpose\n    at here')), 'the reason');
  env.FAILS = '';
});

test('messages that code of functions sends by the worker’s channel do not disturb the worker', async () => {
  const wrong = [null, 1, 'loaded', [], {}, { functions: [] }, { port: 2 }];
  const kinds = ['loaded', 'ready', 'failed', 'constructor', '__proto__'];
  const says = [
    ...wrong,
    ...kinds.flatMap((kind) => [{ kind }, { kind, functions: 1, port: 2, error: null }]),
  ];
  await pool.stop();
  await startPool({ keepsSpare: true, says });
  const lease = await pool.acquire(MANY);
  lease.broken();
  lease.release();
  const next = await pool.acquire(MANY);
  expect([next.port, log]).toEqual([pidsOf('tasks')[0], []]);
  next.release();
});

test('the first spare starts at a pause between requests, or late', async () => {
  await pool.stop();
  jest.useFakeTimers();
  try {
    await startPool({ keepsSpare: true });
    for (let at = 0; at < 2_000; at += 100) {
      const { release } = await pool.acquire(MANY);
      jest.advanceTimersByTime(100);
      release();
    }
    expect(pool.pids).toHaveLength(1);
    jest.advanceTimersByTime(400);
    expect(pool.pids).toHaveLength(2);
    await pool.stop();

    await startPool({ keepsSpare: true });
    // A request, because fake time brings no heartbeats, and a task without heartbeats counts as blocking.
    const { release } = await pool.acquire(API, { byFrames: true });
    jest.advanceTimersByTime(9_800);
    expect(pool.pids).toHaveLength(1);
    jest.advanceTimersByTime(400);
    expect(pool.pids).toHaveLength(2);
    release();
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  { concurrency: 80, own: 79, all: 79, room: true },
  { concurrency: 80, own: 80, all: 80, room: false },
  { concurrency: 80, own: 0, all: 80, room: true },
  { concurrency: 80, own: 79, all: 159, room: true },
  { concurrency: 80, own: 0, all: 160, room: false },
  { concurrency: 1, own: 0, all: 1, room: false },
  { concurrency: 15, own: 0, all: 15, room: false },
])(
  'with $own requests of a user of $all, a worker with concurrency $concurrency has room: $room',
  ({ concurrency, own, all, room }) => {
    expect(hasRoom(concurrency, { own, all })).toBe(room);
  },
);
