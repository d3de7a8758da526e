/** The workers of users that may block them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Blockers } from '../../../../packages/local/src/host/workers/blockers.ts';
import type { WorkerPool } from '../../../../packages/local/src/host/workers/worker-pool.ts';
import { until } from '../../support.ts';
import { MANY, makePool } from '../pool-fixture.ts';

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

const begin = (user: string) => pool.acquire(MANY, { user });

/** Lets all workers be silent for so long that they hang, and answer again. */
async function hang(): Promise<void> {
  const before = performance.now.bind(performance);
  writeFileSync(blocked, '');
  const check = jest.spyOn(Blockers.prototype, 'check');
  jest.spyOn(performance, 'now').mockImplementation(() => before() + 4_000);
  await until(() => check.mock.calls.length > 0, 'a check');
  rmSync(blocked);
}

test('a task is not in a worker with one of a user that may block it, until that user has ended another', async () => {
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
