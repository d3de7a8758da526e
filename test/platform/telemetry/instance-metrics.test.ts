import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InstanceMetrics } from '../../../packages/cairn/src/platform/telemetry/instance-metrics.ts';
import { DURATION_BOUNDS_MS } from '../../../packages/cairn/src/ports/metrics.ts';

test('each tenant sees its own counts and no other', () => {
  const metrics = new InstanceMetrics();
  metrics.transition({ tenantId: 'a', from: 'pending', to: 'running' });
  metrics.transition({ tenantId: 'a', from: 'pending', to: 'running' });
  metrics.transition({ tenantId: 'b', from: 'pending', to: 'cancelled' });
  metrics.answered({ tenantId: 'a', source: 'api', result: 'hit' });
  metrics.answered({ tenantId: 'b', source: 'github_webhook', result: 'miss' });
  expect(metrics.countsOf('a')).toEqual({
    transitions: [{ from: 'pending', to: 'running', count: 2 }],
    durations: [],
    answers: [{ source: 'api', result: 'hit', count: 1 }],
    effects: [],
    conflicts: [],
    dispatches: [],
  });
  expect(metrics.countsOf('b').transitions).toEqual([{ from: 'pending', to: 'cancelled', count: 1 }]);
  for (const counts of Object.values(metrics.countsOf('c'))) expect(counts).toEqual([]);
});

test('a duration is counted within every bound that it does not exceed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(1_000_000_000), fc.constantFrom(...DURATION_BOUNDS_MS)), { minLength: 1 }),
      (durations) => {
        const metrics = new InstanceMetrics();
        for (const durationMs of durations)
          metrics.ended({ tenantId: 'a', type: 't', status: 'completed', durationMs });
        expect(metrics.countsOf('a').durations).toEqual([
          {
            type: 't',
            status: 'completed',
            count: durations.length,
            sumMs: durations.reduce((sum, one) => sum + one, 0),
            within: DURATION_BOUNDS_MS.map((bound) => durations.filter((one) => one <= bound).length),
          },
        ]);
      },
    ),
  );
});

test('ends of different types and statuses are different series', () => {
  const metrics = new InstanceMetrics();
  for (const type of ['x', 'y'])
    for (const status of ['completed', 'failed'] as const)
      metrics.ended({ tenantId: 'a', type, status, durationMs: 1 });
  expect(metrics.countsOf('a').durations.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
});

test('the tenant that was counted least recently makes room', () => {
  const metrics = new InstanceMetrics();
  const count = (tenantId: string) => metrics.answered({ tenantId, source: 'api', result: 'miss' });
  for (let i = 0; i < 500; i += 1) count(`t${i}`);
  count('t0');
  count('one more');
  expect(metrics.countsOf('t0').answers).toEqual([{ source: 'api', result: 'miss', count: 2 }]);
  expect(metrics.countsOf('t1').answers).toEqual([]);
  expect(metrics.countsOf('t2').answers).toHaveLength(1);
});

test('drives, effects and conflicts are counted by their result', () => {
  const metrics = new InstanceMetrics();
  for (const durationMs of [50, 2_000])
    metrics.dispatch({ tenantId: 'a', end: 'closed', cold: false, durationMs });
  metrics.dispatch({ tenantId: 'a', end: 'closed', cold: true, durationMs: 4_000 });
  for (const outcome of ['executed', 'executed', 'reused'] as const)
    metrics.effect({ tenantId: 'a', capabilityId: 'c', outcome });
  metrics.conflict({ tenantId: 'a', leased: true });
  const { dispatches, effects, conflicts } = metrics.countsOf('a');
  expect(dispatches.map(({ cold, count, sumMs }) => [cold, count, sumMs])).toEqual([
    [false, 2, 2_050],
    [true, 1, 4_000],
  ]);
  expect(effects).toEqual([
    { capabilityId: 'c', outcome: 'executed', count: 2 },
    { capabilityId: 'c', outcome: 'reused', count: 1 },
  ]);
  expect(conflicts).toEqual([{ leased: true, count: 1 }]);
});
