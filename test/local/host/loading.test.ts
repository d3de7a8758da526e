import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  LOADS_AFTER_MS,
  Loading,
  type LoadingWorker,
  PAUSE_MS,
  SPARE_WAITS_MS,
} from '../../../packages/local/src/host/workers/loading.ts';
import { REQUESTS, roleOf, TASKS } from '../../../packages/local/src/host/workers/roles.ts';
import { until } from '../support.ts';
import { API, MANY, makePool, PLAIN, SPEC } from './pool-fixture.ts';

type Facts = Omit<LoadingWorker, 'warmUp'>;

const worker: Facts = { role: TASKS, port: 1, idleMs: PAUSE_MS };
const spare: Facts = { ...worker, role: undefined };

let now: number;
let loading: Loading;
beforeEach(() => {
  now = 0;
  loading = new Loading(true, () => now);
});

/** The workers that are told to load. */
function told(...workers: readonly Facts[]): Facts[] {
  const found: Facts[] = [];
  loading.check(workers.map((facts) => ({ ...facts, warmUp: () => found.push(facts) })));
  return found;
}

describe('a worker of tasks', () => {
  test('loads what its first request needs once it has served for a while without one', () => {
    const idle = { ...worker, idleMs: LOADS_AFTER_MS };
    const early = { ...worker, idleMs: LOADS_AFTER_MS - 1 };
    expect(told(idle, early, { ...idle, port: undefined })).toEqual([idle]);
  });

  test('loads nothing before its first request in a cloud that ends soon', () => {
    loading = new Loading(false, () => now);
    expect(told(worker)).toEqual([]);
  });
});

describe('a spare', () => {
  test('loads nothing while nothing has begun that could end or block a worker', () => {
    loading.begin(REQUESTS);
    now = SPARE_WAITS_MS;
    expect(told(worker, spare)).toEqual([worker]);
  });

  test.each([MANY, SPEC])('loads at a pause after a task of $name has begun', (spec) => {
    loading.begin(roleOf(spec));
    const busy = { ...worker, idleMs: PAUSE_MS - 1 };
    expect(told(busy, spare)).not.toContain(spare);
    expect(told(worker, spare)).toEqual([worker, spare]);
  });

  test('does not wait long for that pause', () => {
    loading.begin(TASKS);
    const busy = { ...worker, idleMs: 0 };
    now = SPARE_WAITS_MS - 1;
    loading.begin(TASKS);
    const rested = { ...spare, idleMs: SPARE_WAITS_MS };
    expect(told(busy, rested)).toEqual([]);
    now = SPARE_WAITS_MS;
    expect(told(busy, rested)).toEqual([rested]);
  });

  test('that is ready later waits as long for it', () => {
    loading.begin(TASKS);
    const busy = { ...worker, idleMs: 0 };
    now = 10 * SPARE_WAITS_MS;
    const later = { ...spare, idleMs: SPARE_WAITS_MS - 1 };
    expect(told(busy, later)).toEqual([]);
    expect(told(worker, later)).toEqual([worker, later]);
  });

  test('loads while idle if it will get the first request of a function', () => {
    const onLoaded = loading.knowing(() => ({}));
    onLoaded([API, MANY], []);
    expect(told(spare)).toEqual([]);
    onLoaded([API, PLAIN], []);
    expect(told(spare)).toEqual([spare]);
  });
});

test('no worker that serves a request, does not serve yet or has another role is told to load, and no spare that could wait for a pause', () => {
  const role = fc.constantFrom(TASKS, REQUESTS, 'alone:one', undefined);
  const facts = fc.record({
    role,
    port: fc.constantFrom(undefined, 1),
    idleMs: fc.nat(2 * SPARE_WAITS_MS),
  });
  fc.assert(
    fc.property(
      fc.array(facts, { maxLength: 6 }),
      fc.boolean(),
      fc.nat(2 * SPARE_WAITS_MS),
      (workers, hasTask, at) => {
        now = 0;
        loading = new Loading(true, () => now);
        if (hasTask) loading.begin(TASKS);
        now = at;
        const isPause = workers.every(({ idleMs }) => idleMs >= PAUSE_MS);
        for (const one of told(...workers)) {
          expect(one.port).toBe(1);
          expect(one.idleMs).toBeGreaterThanOrEqual(one.role === undefined ? PAUSE_MS : LOADS_AFTER_MS);
          expect([TASKS, ...(hasTask ? [undefined] : [])]).toContain(one.role);
          if (one.role === undefined && !isPause)
            expect(Math.min(at, one.idleMs)).toBeGreaterThanOrEqual(SPARE_WAITS_MS);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

describe('a pool', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cairn-loading-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('lets its worker load while idle, and its spare after the first task, each once', async () => {
    const loads = join(folder, 'loads');
    const { pool, env } = makePool({ keepsSpare: true });
    env.LOADS = loads;
    const loaded = () => readFileSync(loads, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1);
    await pool.start();
    try {
      const [first = 0] = pool.pids;
      await until(() => loaded().length > 0, 'the worker to load');
      await until(() => (pool.pidsByRole.spare ?? []).length === 1, 'the spare to be ready');
      const [another = 0] = pool.pidsByRole.spare ?? [];
      expect(loaded()).toEqual([String(first)]);
      (await pool.acquire(MANY)).release();
      await until(() => loaded().length > 1, 'the spare to load');
      expect(loaded()).toEqual([String(first), String(another)]);
    } finally {
      await pool.stop();
    }
  });
});
