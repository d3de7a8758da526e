import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { pauseWorkflow } from '../../../packages/cairn/src/operations/runtime/pause-workflow.ts';
import { otlpMetrics } from '../../../packages/cairn/src/platform/telemetry/otlp-metrics.ts';
import type { MetricSink } from '../../../packages/cairn/src/platform/telemetry/sink.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { Installation } from '../../api/installation.ts';
import { CollectedSpans } from '../../support/collected-spans.ts';
import { Collector } from './collector.ts';

const collector = new Collector();
let sink: MetricSink;
let installation: Installation;
let runId: string;

/** A run of a paused workflow. */
beforeEach(async () => {
  const endpoint = await collector.listen();
  sink = otlpMetrics({ endpoint, resource: {}, headers: async () => ({}) });
  installation = new Installation();
  const { world } = installation;
  runId = await world.start('echo', { text: 'x' }, { tenantId: 'acme' });
  const deps = { ...world.deps, config: world.config, statistics: world.statistics };
  await pauseWorkflow(deps, { type: 'echo', actor: 'c.ops', tenantId: 'acme' });
});
afterEach(async () => {
  collector.exports.length = 0;
  await collector.close();
});

test('a deferred dispatch has the end held in both exports and in its span', async () => {
  const { world } = installation;
  const spans = new CollectedSpans();
  const tracer = spans.tracerBy(world.clock);
  await drive({ ...world.deps, tracer }, { runId });
  await drive({ ...world.deps, metrics: sink }, { runId });
  await sink.send();
  const key = await installation.key('boss', { roles: ['admin'] });
  const text = await (await installation.get('/v1/metrics', key)).text();
  expect(text).toContain('gwi_drive_duration_seconds_count{end="held",cold="false",tenant_id="acme"} 1\n');
  expect(collector.points('gwi_drive_duration_seconds')).toMatchObject([
    { labels: { end: 'held', cold: 'false', tenant_id: 'acme' }, value: 1 },
  ]);
  expect(spans.named('drive echo')).toMatchObject([{ attributes: { 'cairn.drive.end': 'held' } }]);
});

test('runs that a scan defers are held in its metric and its log event', async () => {
  const { world } = installation;
  const log = new CollectedLog(world.clock);
  world.clock.jump(120_000);
  await scan({ ...world.deps, log, counts: sink });
  await sink.send();
  expect(collector.points('gwi_scan_runs_total')).toMatchObject([{ labels: { outcome: 'held' }, value: 1 }]);
  expect(log.lines.filter(({ event }) => event === 'recovery_scan')).toMatchObject([
    {
      level: 'info',
      fields: {
        found: 1,
        enqueued: 0,
        recovered: 0,
        held: 1,
        failed: 0,
        watched: 0,
        isCut: false,
        off: false,
      },
    },
  ]);
});

test('a scan that finds nothing logs nothing', async () => {
  const { world } = installation;
  const log = new CollectedLog(world.clock);
  expect(await scan({ ...world.deps, log })).toMatchObject({ found: 0, watched: 0 });
  expect(log.lines).toEqual([]);
});
