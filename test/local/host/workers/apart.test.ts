/** Separation of users that may block workers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Blockers } from '../../../../packages/local/src/host/workers/blockers.ts';
import type { WorkerPool } from '../../../../packages/local/src/host/workers/worker-pool.ts';
import { WorkerProcess } from '../../../../packages/local/src/host/workers/worker-process.ts';
import { until } from '../../support.ts';
import { API, MANY, makePool, PLAIN } from '../pool-fixture.ts';

let folder: string;
let blocked: string;
let pool: WorkerPool;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-apart-'));
  blocked = join(folder, 'blocked');
  ({ pool } = makePool({ keepsSpare: true, blocked }));
  return pool.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await pool.stop();
  rmSync(folder, { recursive: true });
});

const begin = (user: string, spec = MANY) => pool.acquire(spec, { user });

/** Makes all workers silent until they count as hanging, and then respond again. */
async function hang(): Promise<void> {
  writeFileSync(blocked, '');
  const check = jest.spyOn(Blockers.prototype, 'check');
  const { silentFor } = WorkerProcess.prototype;
  const silence = jest.spyOn(WorkerProcess.prototype, 'silentFor').mockImplementation(function (
    this: WorkerProcess,
    tickMs,
  ) {
    return silentFor.call(this, 8 * tickMs);
  });
  await until(() => check.mock.calls.length > 0, 'a check');
  silence.mockRestore();
  rmSync(blocked);
}

/** Stops the process of the pool for 10 s, until one of its checks. */
async function pauseCloud(): Promise<void> {
  const { check } = Blockers.prototype;
  const before = performance.now.bind(performance);
  const checks = jest.spyOn(Blockers.prototype, 'check').mockImplementation(function (this: Blockers) {
    jest.spyOn(performance, 'now').mockImplementation(() => before() + 10_000);
    check.call(this);
  });
  await until(() => checks.mock.calls.length > 0, 'a check');
  checks.mockRestore();
}

test('a task does not share a worker with a user that may block it, until a task of that user has ended elsewhere', async () => {
  await until(() => pool.pidsByRole.spare?.length === 1, 'the spare to be ready');
  const first = await begin('ada');
  await hang();
  const others = [await begin('bob'), await begin('bob'), await begin('bob')];
  expect(others.map(({ port }) => port === first.port)).toEqual([false, false, false]);
  await first.release();
  const second = await begin('ada');
  expect(second.port).toBe(first.port);
  await second.release();
  expect((await begin('bob')).port).toBe(first.port);
});

test.each([
  ['tasks', MANY],
  ['requests', PLAIN],
])('after a pause of the cloud, users of %s share a worker as before', async (_role, spec) => {
  await until(() => pool.pidsByRole.spare?.length === 1, 'the spare to be ready');
  const first = await begin('ada', spec);
  await pauseCloud();
  const others = [await begin('bob', spec), await begin('cy', spec)];
  expect(others.map(({ port }) => port)).toEqual([first.port, first.port]);
  expect((await pool.acquire(API, { byFrames: true })).isShared).toBe(true);
});
