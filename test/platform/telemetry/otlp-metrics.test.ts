import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { otlpMetrics } from '../../../packages/cairn/src/platform/telemetry/otlp-metrics.ts';
import type { MetricSink } from '../../../packages/cairn/src/platform/telemetry/sink.ts';
import { DURATION_BOUNDS_MS } from '../../../packages/cairn/src/ports/metrics.ts';
import { Collector } from './collector.ts';

const collector = new Collector();
let sink: MetricSink;
let endpoint: string;
beforeEach(async () => {
  endpoint = await collector.listen();
  sink = otlpMetrics({
    endpoint,
    resource: { 'service.name': 'cairn', 'service.instance.id': 'i1' },
    headers: async () => ({}),
  });
});
afterEach(async () => {
  collector.exports.length = 0;
  collector.status = 200;
  await collector.close();
});

const only = () => collector.exports.at(-1);

test('the metrics of the specification arrive with its names, types and labels', async () => {
  sink.transition({ tenantId: 'acme', from: 'pending', to: 'running' });
  sink.transition({ tenantId: 'acme', from: 'pending', to: 'running' });
  sink.transition({ tenantId: 'other', from: 'pending', to: 'running' });
  sink.ended({ tenantId: 'acme', type: 'echo', status: 'completed', durationMs: 250 });
  sink.ended({ tenantId: 'acme', type: 'echo', status: 'completed', durationMs: 100 });
  sink.answered({ tenantId: 'acme', source: 'api', result: 'miss' });
  sink.answered({ tenantId: 'other', source: 'api', result: 'miss' });
  sink.active([{ tenantId: 'acme', active: [{ status: 'running', runs: 3 }] }]);
  await sink.send();

  const sent = only();
  expect(sent?.path).toBe('/v1/metrics');
  expect(sent?.resource).toMatchObject({ 'service.name': 'cairn', 'service.instance.id': 'i1' });
  expect(collector.points('gwi_run_transitions_total')).toEqual([
    { labels: { from_state: 'pending', to_state: 'running', tenant_id: 'acme' }, value: 2 },
    { labels: { from_state: 'pending', to_state: 'running', tenant_id: 'other' }, value: 1 },
  ]);
  expect(collector.points('gwi_run_duration_seconds')).toEqual([
    {
      labels: { type: 'echo', status: 'completed', tenant_id: 'acme' },
      value: 2,
      sum: 0.35,
      buckets: [1, 1, ...DURATION_BOUNDS_MS.slice(2).map(() => 0), 0],
    },
  ]);
  // The specification has no tenant for this one.
  expect(collector.points('gwi_idempotency_hits_total')).toEqual([
    { labels: { source: 'api', result: 'miss' }, value: 2 },
  ]);
  expect(collector.points('gwi_run_active_gauge')).toEqual([
    { labels: { status: 'running', tenant_id: 'acme' }, value: 3 },
  ]);
  const kinds = sent?.metrics.map((one) => [one.name, 'sum' in one, 'histogram' in one, 'gauge' in one]);
  expect(kinds).toEqual([
    ['gwi_run_transitions_total', true, false, false],
    ['gwi_run_duration_seconds', false, true, false],
    ['gwi_idempotency_hits_total', true, false, false],
    ['gwi_run_active_gauge', false, false, true],
  ]);
  const histogram = sent?.metrics.find(({ name }) => name === 'gwi_run_duration_seconds');
  expect(histogram?.unit).toBe('s');
  expect(histogram?.histogram?.dataPoints[0]?.explicitBounds).toEqual(
    DURATION_BOUNDS_MS.map((ms) => ms / 1_000),
  );
});

test('totals are sent, so that the next export makes up for a failed one', async () => {
  sink.answered({ tenantId: 'acme', source: 'slack', result: 'hit' });
  collector.status = 400;
  await expect(sink.send()).rejects.toThrow();
  collector.status = 200;
  sink.answered({ tenantId: 'acme', source: 'slack', result: 'hit' });
  await sink.send();
  expect(collector.points('gwi_idempotency_hits_total')).toMatchObject([{ value: 2 }]);
  const [counter] = only()?.metrics ?? [];
  // 2 means cumulative.
  expect(counter?.sum).toMatchObject({ aggregationTemporality: 2, isMonotonic: true });
});

test('a count of active runs is sent once, or when it could be made', async () => {
  sink.answered({ tenantId: 'acme', source: 'api', result: 'miss' });
  sink.active([{ tenantId: 'acme', active: [{ status: 'pending', runs: 0 }] }]);
  collector.status = 400;
  await expect(sink.send()).rejects.toThrow();
  collector.status = 200;
  await sink.send();
  await sink.send();
  const gauges = collector.exports.map(({ metrics }) =>
    metrics.some(({ name }) => name === 'gwi_run_active_gauge'),
  );
  expect(gauges).toEqual([true, false]);
});

test('nothing is sent if nothing was counted, and an address may end with a slash', async () => {
  const other = otlpMetrics({ endpoint: `${endpoint}/`, resource: {}, headers: async () => ({}) });
  await other.send();
  expect(collector.exports).toEqual([]);
  other.answered({ tenantId: 'acme', source: 'api', result: 'miss' });
  await other.send();
  expect(only()?.path).toBe('/v1/metrics');
});

test('problems found in a sample of runs are counted by code', async () => {
  sink.inconsistent({ tenantId: 'acme', code: 'STEP_MISSING' });
  sink.inconsistent({ tenantId: 'acme', code: 'STEP_MISSING' });
  await sink.send();
  expect(collector.points('gwi_run_problems_total')).toEqual([
    { labels: { code: 'STEP_MISSING', tenant_id: 'acme' }, value: 2 },
  ]);
});

test('metrics of dispatches, ledger, journal, queue and scan have bounded names and labels', async () => {
  sink.dispatch({ tenantId: 'acme', end: 'closed', cold: true, durationMs: 1_500 });
  sink.effect({ tenantId: 'acme', capabilityId: 'github.create-comment', outcome: 'in_doubt' });
  sink.conflict({ tenantId: 'acme', leased: false });
  sink.enqueue({ reason: 'start', result: 'failed' });
  sink.scan({ due: 3, lagMs: 90_000, handled: { enqueued: 2, recovered: 1, failed: 0 } });
  sink.spansDropped(7);
  await sink.send();
  const labelled = (name: string) => collector.points(name).map(({ labels, value }) => [labels, value]);
  expect(labelled('gwi_drive_duration_seconds')).toEqual([
    [{ end: 'closed', cold: 'true', tenant_id: 'acme' }, 1],
  ]);
  expect(labelled('gwi_effects_total')).toEqual([
    [{ capability: 'github.create-comment', outcome: 'in_doubt', tenant_id: 'acme' }, 1],
  ]);
  expect(labelled('gwi_journal_conflicts_total')).toEqual([[{ leased: 'false', tenant_id: 'acme' }, 1]]);
  expect(labelled('gwi_queue_tasks_total')).toEqual([[{ reason: 'start', result: 'failed' }, 1]]);
  expect(labelled('gwi_scan_runs_total')).toEqual([
    [{ outcome: 'enqueued' }, 2],
    [{ outcome: 'recovered' }, 1],
  ]);
  expect(labelled('gwi_scan_due_gauge')).toEqual([[{}, 3]]);
  expect(labelled('gwi_scan_lag_seconds')).toEqual([[{}, 90]]);
  expect(labelled('gwi_spans_dropped_total')).toEqual([[{}, 7]]);
});

test('the lag of a scan is reported once: an instance that no longer scans reports none', async () => {
  sink.scan({ due: 1, lagMs: 60_000, handled: { enqueued: 1 } });
  await sink.send();
  sink.enqueue({ reason: 'start', result: 'accepted' });
  await sink.send();
  const names = only()?.metrics.map(({ name }) => name);
  expect(names).toContain('gwi_queue_tasks_total');
  expect(names).not.toContain('gwi_scan_lag_seconds');
});
