import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';
import {
  MAX_CAUSES,
  PARTS,
  type RunOutline,
  summarizeRuns,
} from '../../packages/cairn/src/core/statistics/summarize-runs.ts';

const DAY = { from: 0, until: 24_000 };

function run(id: string, more: Partial<RunOutline>): RunOutline {
  return { id, type: 'order', planVersion: 1, status: 'completed', createdAt: 0, ...more };
}

function failed(id: string, code: string, more: Partial<RunOutline> = {}): RunOutline {
  return run(id, { status: 'failed', error: { code, message: `${id} ${code}`, stepId: 'charge' }, ...more });
}

test('counts how runs ended, with the durations of completed ones', () => {
  const took = [10, 20, 30, 40, 1_000].map((durationMs, n) => run(`c${n}`, { durationMs }));
  const { total } = summarizeRuns(
    [
      ...took,
      failed('f', 'E'),
      run('x', { status: 'cancelled' }),
      run('r', { status: 'running', isSuspect: true }),
    ],
    DAY,
  );
  expect(total).toMatchObject({
    suspects: 1,
    runs: 8,
    completed: 5,
    failed: 1,
    cancelled: 1,
    live: 1,
    p50Ms: 30,
    p95Ms: 1_000,
  });
  expect(total.failureShare).toBeCloseTo(1 / 6);
});

test('has no failure share and no durations if no run ended', () => {
  const { total } = summarizeRuns([run('r', { status: 'running' })], DAY);
  expect(total).toEqual({
    ...{ runs: 1, completed: 0, failed: 0, cancelled: 0, live: 1, suspects: 0 },
    cost: { reads: 0, writes: 0, deletes: 0, tasks: 0, usd: 0 },
  });
});

test('lists versions by type, the newest first, and adds up what runs cost', () => {
  const cost = { writes: 100_000 };
  const { versions } = summarizeRuns(
    [
      run('a', { cost }),
      run('b', { planVersion: 2, cost }),
      run('c', { planVersion: 2, cost }),
      run('d', { type: 'mail' }),
    ],
    DAY,
  );
  expect(versions.map(({ type, planVersion, runs, cost }) => [type, planVersion, runs, cost.usd])).toEqual([
    ['mail', 1, 1, 0],
    ['order', 2, 2, 0.18],
    ['order', 1, 1, 0.09],
  ]);
});

test('the parts of one workflow have the figures of each version that has runs in them', () => {
  const { parts } = summarizeRuns(
    [
      run('a', { createdAt: DAY.from, durationMs: 10 }),
      run('b', { createdAt: DAY.from, durationMs: 30 }),
      run('c', { createdAt: DAY.from, planVersion: 2, durationMs: 5 }),
      failed('d', 'CARD', { createdAt: DAY.from, planVersion: 2 }),
    ],
    DAY,
    { isOfOneType: true },
  );
  expect(parts[0]).toMatchObject({ runs: 4, p50Ms: 10, p95Ms: 30 });
  expect(parts[0]?.versions).toEqual([
    {
      planVersion: 2,
      runs: 2,
      completed: 1,
      failed: 1,
      cancelled: 0,
      live: 0,
      failureShare: 0.5,
      p50Ms: 5,
      p95Ms: 5,
    },
    {
      planVersion: 1,
      runs: 2,
      completed: 2,
      failed: 0,
      cancelled: 0,
      live: 0,
      failureShare: 0,
      p50Ms: 10,
      p95Ms: 30,
    },
  ]);
  expect(parts[1]?.versions).toEqual([]);
  expect(summarizeRuns([run('a', {})], DAY).parts[0]).not.toHaveProperty('versions');
});

test('groups failures by workflow, code and step, across items, and shows the newest', () => {
  const { causes } = summarizeRuns(
    [
      failed('a', 'CARD', { createdAt: 1 }),
      failed('b', 'CARD', { createdAt: 3, error: { code: 'CARD', message: 'newest', stepId: 'charge[7]' } }),
      failed('c', 'CARD', { createdAt: 2 }),
      failed('d', 'TIME', { createdAt: 9 }),
    ],
    DAY,
  );
  expect(causes).toEqual([
    { type: 'order', code: 'CARD', step: 'charge', runs: 3, last: { runId: 'b', at: 3, message: 'newest' } },
    { type: 'order', code: 'TIME', step: 'charge', runs: 1, last: { runId: 'd', at: 9, message: 'd TIME' } },
  ]);
});

test('any runs are counted once in the parts, once in the versions, and causes are bounded', () => {
  const outline = fc.record({
    id: fc.uuid(),
    type: fc.constantFrom('a', 'b'),
    planVersion: fc.integer({ min: 1, max: 3 }),
    status: fc.constantFrom(...RUN_STATUSES),
    createdAt: fc.integer({ min: 1_000, max: 9_999 }),
    durationMs: fc.option(fc.nat(), { nil: undefined }),
    error: fc.option(fc.record({ code: fc.string({ maxLength: 3 }), message: fc.string() }), {
      nil: undefined,
    }),
  });
  fc.assert(
    fc.property(fc.array(outline, { maxLength: 60 }), (runs) => {
      const { total, parts, versions, causes } = summarizeRuns(runs, { from: 1_000, until: 10_000 });
      const sum = (some: readonly { readonly runs: number }[]) => some.reduce((n, one) => n + one.runs, 0);
      expect(parts).toHaveLength(PARTS);
      expect([
        sum(parts),
        sum(versions),
        total.completed + total.failed + total.cancelled + total.live,
      ]).toEqual([runs.length, runs.length, runs.length]);
      expect(causes.length).toBeLessThanOrEqual(MAX_CAUSES);
      expect(sum(causes)).toBeLessThanOrEqual(total.failed);
      if (total.p50Ms !== undefined) expect(total.p50Ms).toBeLessThanOrEqual(total.p95Ms ?? 0);
    }),
  );
});
