import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import { hasRoom } from '../../../packages/local/src/host/workers/roles.ts';
import { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';
import { until } from '../support.ts';

const SPEC: FunctionSpec = {
  name: 'one',
  region: 'r',
  trigger: { kind: 'task-queue', retry: {}, rates: {} } as FunctionSpec['trigger'],
  timeoutSeconds: 60,
  concurrency: 1,
  secrets: [],
};

let folder: string;
let pool: WorkerPool;
let log: string[];
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-pool-'));
  return startPool({ keepsSpare: true });
});
afterEach(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

interface Started {
  readonly keepsSpare: boolean;
  /** Messages that workers send besides their own. */
  readonly says?: readonly unknown[];
  /** Workers answer no probe as long as this file is there. */
  readonly blocked?: string;
}

function startPool({ keepsSpare, says = [], blocked = '' }: Started): Promise<void> {
  log = [];
  env = { SAYS: JSON.stringify(says), BLOCKED: blocked };
  pool = new WorkerPool({
    keepsSpare,
    module: '',
    workerMain: join(import.meta.dirname, 'fixtures/empty-worker.ts'),
    workers: 1,
    roles: true,
    watchdogMs: 60_000,
    region: 'r',
    output: 2,
    env,
    clockOffsetMs: () => 0,
    log: (line) => log.push(line),
    onLoaded: () => ({}),
  });
  return pool.start();
}

const MANY: FunctionSpec = { ...SPEC, name: 'many', concurrency: 80 };
/** One that may share the workers of tasks, and one that may not. */
const API: FunctionSpec = { ...MANY, name: 'api', trigger: { kind: 'https' }, takesWhole: true };
const PLAIN: FunctionSpec = { ...MANY, name: 'plain', trigger: { kind: 'https' } };

const alone = () => pool.pidsByRole['alone:one'] ?? [];
const pidsOf = (role: string) => pool.pidsByRole[role] ?? [];
/** Worker processes by role, `requests:1 tasks:1` for example. */
const counts = () => ['requests', 'tasks'].map((role) => `${role}:${pidsOf(role).length}`).join(' ');

/** Ends the sharing of workers, as a blocking body does, and waits until both roles serve. */
async function separate(): Promise<void> {
  const task = await pool.acquire(MANY);
  task.late();
  task.release();
  for (const spec of [PLAIN, MANY]) (await pool.acquire(spec)).release();
}

describe('requests and tasks', () => {
  const serve = async (spec: FunctionSpec) => {
    const lease = await pool.acquire(spec);
    const { port, isShared } = lease;
    lease.release();
    return { port, isShared };
  };

  test('share a worker', async () => {
    expect(counts()).toBe('requests:0 tasks:1');
    const [task, request] = [await serve(MANY), await serve(API)];
    expect(request).toEqual({ port: task.port, isShared: true });
    expect(task.isShared).toBe(false);
    expect(counts()).toBe('requests:0 tasks:1');
  });

  test('do not share it if a request could not be sent to another worker', async () => {
    const task = await serve(MANY);
    const request = await serve(PLAIN);
    expect(request.port).not.toBe(task.port);
    expect(request.isShared).toBe(false);
    expect(counts()).toBe('requests:1 tasks:1');
    expect((await serve(API)).port).toBe(task.port);
  });

  test('have workers of their own once a task was late, and the requests under way hear of it', async () => {
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

  test('have workers of their own once one of them has died', async () => {
    await serve(MANY);
    const [pid = 0] = pidsOf('tasks');
    process.kill(pid, 'SIGKILL');
    await until(() => pidsOf('requests').length === 1 && !pidsOf('tasks').includes(pid), 'its replacement');
    await serve(PLAIN);
    expect((await serve(API)).port).not.toBe((await serve(MANY)).port);
    expect(counts()).toBe('requests:1 tasks:1');
  });

  test('are served by the workers of tasks until that of the requests serves', async () => {
    const task = await pool.acquire(MANY);
    task.late();
    const request = await pool.acquire(API);
    expect(request.isShared).toBe(false);
    expect(request.port).toBe(task.port);
    request.release();
    task.release();
  });

  test('have workers of their own if a worker of both no longer responds', async () => {
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
});

test('a worker that is only probed, as after an aborted request, is not joined by the spare', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const many = { ...SPEC, name: 'many', concurrency: 80 };
  const { broken, release } = await pool.acquire(many);
  broken();
  const next = await pool.acquire(many);
  expect(pool.pidsByRole.tasks).toHaveLength(1);
  next.release();
  release();
});

test('a worker that is late is joined by the spare at once', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const many = { ...SPEC, name: 'many', concurrency: 80 };
  const { late, release } = await pool.acquire(many);
  late();
  const next = await pool.acquire(many);
  expect(pool.pidsByRole.tasks).toHaveLength(2);
  next.release();
  release();
});

test('a user whose aborted requests block workers leaves the others to the other users', async () => {
  const file = join(folder, 'blocked');
  writeFileSync(file, '');
  await pool.stop();
  await startPool({ keepsSpare: true, blocked: file });
  const many = { ...SPEC, name: 'many', concurrency: 80 };
  for (let blocked = 1; blocked <= 2; blocked += 1) {
    await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
    const lease = await pool.acquire(many, { user: 'ada' });
    lease.late();
    lease.broken();
    lease.release();
  }
  const granted: string[] = [];
  const leases = ['ada', 'bob'].map(async (user) => {
    const lease = await pool.acquire(many, { user });
    granted.push(user);
    lease.release();
  });
  await leases[1];
  expect(granted).toEqual(['bob']);
  rmSync(file);
  await Promise.all(leases);
});

test('a request is not moved from a worker that serves only one, and would end', async () => {
  const many = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
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
  const task = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
  const { release } = await pool.acquire(SPEC);
  expect(priorities()).toContain('alone:one 5');
  release();
  task.release();
});

test('an isolated function gets a task worker that is about to be idle before a spare that is not loaded', async () => {
  await separate();
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const before = pool.pidsByRole.tasks;
  const task = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
  const waiting = pool.acquire(SPEC);
  task.release();
  const { release } = await waiting;
  expect(alone()).toEqual(before);
  release();
});

test('an isolated function gets that spare if no loaded worker is about to be idle', async () => {
  await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
  const before = pool.pidsByRole.spare;
  const task = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
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
  // Those of earlier requests may still be ending.
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
  process.kill(pid ?? 0, 'SIGKILL');
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
  const task = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
  const leases = await Promise.all([pool.acquire(SPEC), pool.acquire(SPEC)]);
  expect(before).not.toContain(alone()[0]);
  expect(before).not.toContain(alone()[1]);
  expect(pool.pids).toHaveLength(3);
  for (const { release } of leases) release();
  const [pid = 0] = pool.pidsByRole.tasks ?? [];
  process.kill(pid, 'SIGKILL');
  task.broken();
  task.release();
  const next = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
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
  for (const pid of pool.pids) process.kill(pid, 'SIGKILL');
  await until(() => log.some((line) => line.includes('SyntaxError: on purpose\n    at here')), 'the reason');
  env.FAILS = '';
});

test('whatever code of functions says by the channel of its worker, the worker serves on', async () => {
  const wrong = [null, 1, 'loaded', [], {}, { functions: [] }, { port: 2 }];
  const kinds = ['loaded', 'ready', 'failed', 'constructor', '__proto__'];
  const says = [
    ...wrong,
    ...kinds.flatMap((kind) => [{ kind }, { kind, functions: 1, port: 2, error: null }]),
  ];
  await pool.stop();
  await startPool({ keepsSpare: true, says });
  const lease = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
  lease.broken();
  lease.release();
  const next = await pool.acquire({ ...SPEC, name: 'many', concurrency: 80 });
  expect([next.port, log]).toEqual([1, []]);
  next.release();
});

test('the first spare starts at a pause between requests, or late', async () => {
  await pool.stop();
  jest.useFakeTimers();
  try {
    await startPool({ keepsSpare: true });
    const many = { ...SPEC, name: 'many', concurrency: 80 };
    for (let at = 0; at < 2_000; at += 100) {
      const { release } = await pool.acquire(many);
      jest.advanceTimersByTime(100);
      release();
    }
    expect(pool.pids).toHaveLength(1);
    jest.advanceTimersByTime(400);
    expect(pool.pids).toHaveLength(2);
    await pool.stop();

    await startPool({ keepsSpare: true });
    const { release } = await pool.acquire(many);
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
