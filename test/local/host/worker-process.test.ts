/** Responsiveness of one worker process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import { WorkerProcess } from '../../../packages/local/src/host/workers/worker-process.ts';

const SPEC = { name: 'one', concurrency: 80 } as FunctionSpec;

let folder: string;
let worker: WorkerProcess;
let now: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-worker-'));
  writeFileSync(blockedFile(), '');
  worker = new WorkerProcess({
    module: '',
    workerMain: join(import.meta.dirname, 'fixtures/empty-worker.ts'),
    region: 'r',
    output: 2,
    env: { BLOCKED: blockedFile() },
    clockOffsetMs: () => 0,
    onLoaded: () => ({}),
  });
  await worker.ready;
  now = Math.ceil(performance.now());
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(async () => {
  jest.restoreAllMocks();
  worker.kill('SIGKILL');
  await worker.ended;
  rmSync(folder, { recursive: true });
});

const blockedFile = () => join(folder, 'blocked');
const state = () => worker.factsFor(SPEC, 'ada').state;

test('a worker that does not answer a probe is late after half a second, and blocked after three', async () => {
  expect(state()).toBe('responding');
  const answered = worker.suspect();
  const seen = [0, 500, 1].map((ms) => {
    now += ms;
    return state();
  });
  expect(seen).toEqual(['starting', 'starting', 'late']);
  const checked = [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500].map((ms) => {
    expect(worker.silentFor(500)).toBe(ms);
    return state();
  });
  expect(checked).toEqual([...Array<string>(6).fill('late'), 'blocked']);
  rmSync(blockedFile());
  await answered;
  expect(state()).toBe('responding');
});

test('concurrent suspicions of a worker wait for the same answer', async () => {
  const both = [worker.suspect(), worker.suspect()].map(async (answer) => {
    await answer;
    return state();
  });
  rmSync(blockedFile());
  expect(await Promise.all(both)).toEqual(['responding', 'responding']);
});

test.each([4_000, 60_000, 100_000_000])(
  'a pause of the cloud of %i ms does not count as silence of its workers',
  (ms) => {
    const seen = [0, ms, ms].map((paused) => {
      now += paused;
      worker.silentFor(500);
      return [worker.silentMs, worker.hangs];
    });
    expect(seen).toEqual([
      [500, false],
      [1_000, false],
      [1_500, false],
    ]);
  },
);
