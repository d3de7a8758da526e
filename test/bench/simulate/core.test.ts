import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readArguments, type SimulateArguments } from '../../../bench/simulate/arguments.ts';
import { ceilings } from '../../../bench/simulate/core/ceilings.ts';
import { EventQueue } from '../../../bench/simulate/core/event-queue.ts';
import type { Plan } from '../../../bench/simulate/core/plan.ts';
import { RateLimit } from '../../../bench/simulate/core/rate-limit.ts';
import { simulate } from '../../../bench/simulate/core/simulate.ts';
import { reportOf } from '../../../bench/simulate/report.ts';
import type { Op, Profile, Range } from '../../../bench/simulate/traffic/profile.ts';

const HOT: Range = { index: 'c: at', by: 'all' };

function op(kind: Op['kind'], more: Partial<Op> = {}): Op {
  return { kind, reads: 0, writes: [], deletes: 0, bytes: 0, documents: [], ranges: [], ...more };
}

/** A run of one body; with `hot` writes to an index of a growing value. */
function profileOf({ bodyMs = 0, hot = 1, again = 0 } = {}): Profile {
  const commit = op('commit', { writes: ['c'], ranges: Array.from({ length: hot }, () => HOT) });
  const ops = [op('read'), ...Array.from({ length: again }, () => op('commit', { documents: [0] }))];
  return {
    steps: 1,
    bodyMs,
    parallel: false,
    start: [op('commit', { writes: ['c'] })],
    dispatches: [
      {
        stages: [
          { kind: 'ops', ops },
          { kind: 'bodies', ms: bodyMs, beside: [] },
          { kind: 'ops', ops: [commit] },
        ],
      },
    ],
    tasks: 1,
    storedBytes: 1_000,
    deletion: { reads: 3, deletes: 3 },
    logLines: 1,
    logBytes: 100,
    overdueMs: 60_000,
  };
}

function planOf(words: string, more: Partial<Plan> = {}): Plan {
  return { ...readArguments(words.split(' ')).plan, spread: 0, ...more };
}

test('events happen in the order of their time, and of their addition if that is equal', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const events = new EventQueue();
      const seen: [number, number][] = [];
      for (const [n, at] of times.entries()) events.add(at, () => seen.push([events.now, n]));
      events.run(20);
      const expected = times
        .map((at, n): [number, number] => [at, n])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(seen).toEqual(expected);
    }),
  );
});

test('a rate is never exceeded, except by its burst', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 20 }),
      (gaps, perSecond, burst) => {
        const limit = new RateLimit({ perSecond, burst });
        let now = 0;
        const served = gaps.map((gap) => {
          now += gap;
          return now + limit.take(now);
        });
        for (const [n, from] of served.entries()) {
          const within = served.slice(n).filter((at) => at <= from + 1_000).length;
          expect(within).toBeLessThanOrEqual(perSecond + burst + 1);
        }
      },
    ),
  );
});

const load = fc.record({
  rate: fc.integer({ min: 1, max: 60 }),
  bodyMs: fc.constantFrom(0, 100, 3_000),
  queueConcurrent: fc.integer({ min: 1, max: 40 }),
  instances: fc.integer({ min: 1, max: 4 }),
  concurrency: fc.integer({ min: 1, max: 20 }),
  queues: fc.integer({ min: 1, max: 4 }),
  queuesPerTenant: fc.integer({ min: 0, max: 3 }),
  tenants: fc.integer({ min: 1, max: 5 }),
  flood: fc.constantFrom(0, 30),
  lost: fc.constantFrom(0, 0.1),
  isNew: fc.boolean(),
  warm: fc.constantFrom(0, 1, undefined),
  seed: fc.integer({ min: 1, max: 1_000 }),
});

const SHORT = '--for 4s --rest 5s';

describe('whatever the load and the installation', () => {
  test('every run that was started has ended or is waiting, and all end when there is time', () => {
    fc.assert(
      fc.property(load, ({ bodyMs, ...more }) => {
        const profile = profileOf({ bodyMs });
        const result = simulate(profile, planOf(SHORT, { ...more, spread: 0.5 }));
        expect(result.ended + result.waiting).toBe(result.started);
        expect(result.waiting).toBeGreaterThanOrEqual(0);
        const patient = simulate(profile, planOf('--for 4s --rest 2h', { ...more, spread: 0.5 }));
        expect(patient.started).toBe(result.started);
        expect(patient.waiting).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test('the same seed gives the same result', () => {
    fc.assert(
      fc.property(load, ({ bodyMs, ...more }) => {
        const plan = planOf(SHORT, { ...more, spread: 0.5 });
        expect(simulate(profileOf({ bodyMs }), plan)).toEqual(simulate(profileOf({ bodyMs }), plan));
      }),
      { numRuns: 20 },
    );
  });

  test('no run is faster than its bodies and its requests', () => {
    fc.assert(
      fc.property(load, ({ bodyMs, ...more }) => {
        const { run } = simulate(profileOf({ bodyMs }), planOf(SHORT, more));
        const { readMs, commitMs } = planOf(SHORT);
        if (run) expect(run.p50).toBeGreaterThanOrEqual(bodyMs + readMs + 2 * commitMs);
      }),
      { numRuns: 20 },
    );
  });
});

const MORE: readonly { readonly what: string; readonly than: Partial<Plan>; readonly more: Partial<Plan> }[] =
  [
    { what: 'dispatches at a time', than: { queueConcurrent: 3 }, more: { queueConcurrent: 30 } },
    {
      what: 'queues',
      than: { queues: 1, queuesPerTenant: 0, queueConcurrent: 3 },
      more: { queues: 4, queuesPerTenant: 0, queueConcurrent: 3 },
    },
    {
      what: 'instances',
      than: { instances: 1, concurrency: 4, warm: 1 },
      more: { instances: 8, concurrency: 4, warm: 1 },
    },
    {
      what: 'places in an instance',
      than: { instances: 1, concurrency: 3 },
      more: { instances: 1, concurrency: 30 },
    },
    { what: 'use to the load', than: { rate: 700, isNew: true }, more: { rate: 700, isNew: false } },
  ];

test.each(MORE)('more $what: runs wait less where it was short, never longer', ({ than, more }) => {
  const profile = profileOf({ bodyMs: 200 });
  for (const seed of [1, 2, 3]) {
    const short = simulate(profile, planOf('--rate 60 --for 5s --rest 1h', { ...than, seed }));
    const ample = simulate(profile, planOf('--rate 60 --for 5s --rest 1h', { ...more, seed }));
    expect(ample.started).toBe(short.started);
    for (const part of ['p50', 'p95', 'max'] as const)
      expect(ample.run?.[part]).toBeLessThanOrEqual(short.run?.[part] ?? 0);
    expect(ample.run?.p95).toBeLessThan(short.run?.p95 ?? 0);
  }
});

const given = (plan: Plan): SimulateArguments => ({ ...readArguments([]), plan });

describe('the bottleneck', () => {
  test.each([
    { what: 'an index of a growing value', profile: profileOf({ hot: 2 }), rate: 400, limit: 'index c: at' },
    {
      what: 'the places of a queue',
      profile: profileOf({ bodyMs: 15_000 }),
      rate: 200,
      limit: 'queue: dispatches at a time',
    },
    {
      what: 'the rate of a queue',
      profile: profileOf({ hot: 0 }),
      rate: 800,
      limit: 'queue: dispatches a second',
    },
  ])('is $what, at the calculated rate and not below', ({ profile, rate, limit }) => {
    const plan = planOf(`--rate ${rate} --for 40s`);
    const [lowest] = ceilings(profile, plan);
    expect(lowest?.limit).toBe(limit);
    const result = simulate(profile, plan);
    expect(result.holds).toBe(false);
    expect(result.held.map((held) => held.limit)).toContain(limit);
    expect(reportOf(given(plan), profile, result).breaksFirst).toBe(limit);
    const below = planOf(`--rate ${(lowest?.runsPerSecond ?? 0) * 0.8} --for 40s`);
    expect(simulate(profile, below).holds).toBe(true);
  });

  test('is a document that is written more than ten times in one second', () => {
    const result = simulate(profileOf({ again: 15 }), planOf('--rate 1 --for 10s'));
    expect(result.held.map(({ limit }) => limit)).toContain('one document');
    expect(result.run?.p50).toBeGreaterThan(3_000);
  });

  test('does not exist below all limits', () => {
    const result = simulate(profileOf(), planOf('--rate 10 --for 10s'));
    expect(result).toMatchObject({ holds: true, refused: 0, waiting: 0 });
  });
});

describe('instances', () => {
  const one = planOf('--rate 20 --for 1s');

  test('a cold installation takes two cold starts longer, of the API and of the drive', () => {
    const warm = simulate(profileOf(), one).run?.p50 ?? 0;
    const cold = simulate(profileOf(), { ...one, warm: 0 }).run?.max ?? 0;
    expect(cold).toBeGreaterThan(warm + 3_900);
  });

  test('a request without room for ten seconds is refused, and its task is repeated', () => {
    const result = simulate(
      profileOf({ bodyMs: 30_000 }),
      planOf('--rate 5 --for 2s --rest 1h', { instances: 1, concurrency: 1 }),
    );
    expect(result.refused).toBeGreaterThan(0);
    expect(result.waiting).toBe(0);
  });
});

test('lost tasks are found by the scan, after the time in which they should have begun', () => {
  const result = simulate(profileOf(), planOf('--rate 20 --for 10s --rest 5m --lost 0.5'));
  expect(result.foundByScan).toBeGreaterThan(0);
  expect(result.waiting).toBe(0);
  expect(result.run?.max).toBeGreaterThanOrEqual(60_000);
  expect(result.run?.max).toBeLessThan(60_000 + 60_000 + 5_000);
});

describe('when one tenant floods the installation', () => {
  const words = '--rate 20 --for 30s --rest 10m --tenants 10';
  const flooded = (more: Partial<Plan>) =>
    simulate(profileOf({ bodyMs: 15_000 }), planOf(words, { queueConcurrent: 400, flood: 200, ...more }))
      .waitOfOthers?.p95 ?? 0;

  test('all others wait if all share the queues, and few if each tenant has some of many', () => {
    const calm = flooded({ flood: 0 });
    expect(flooded({ queues: 1 })).toBeGreaterThan(100 * calm);
    expect(flooded({ queues: 2, queuesPerTenant: 0 })).toBeGreaterThan(100 * calm);
    expect(flooded({ queues: 200, queuesPerTenant: 2, queueConcurrent: 200 })).toBeLessThan(2 * calm);
  });

  test('half the runs of those that share a queue with it wait', () => {
    const shared = flooded({ queues: 3, queuesPerTenant: 2, queueConcurrent: 200 });
    expect(shared).toBeGreaterThan(100 * flooded({ flood: 0 }));
  });
});
