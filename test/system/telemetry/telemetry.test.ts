/** Telemetry of several instances of one local cloud, as a collector receives it. In this order: the first suite counts all runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from '@jest/globals';
import { Collector } from '../../platform/telemetry/collector.ts';
import { setCloud } from '../support.ts';
import { metrics } from './metrics.suite.ts';
import { traces } from './traces.suite.ts';

describe('over one cloud with two workers,', () => {
  const collector = new Collector();
  const folder = mkdtempSync(join(tmpdir(), 'cairn-traces-'));
  const notes = join(folder, 'notes');
  const stage = setCloud('memory', async () => ({
    functions: 'traced-functions',
    workers: 2,
    isDisturbed: true,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(), TRACED_NOTES: notes },
  }));
  afterAll(async () => {
    await collector.close();
    rmSync(folder, { recursive: true, force: true });
  });
  metrics(stage, collector);
  traces(stage, { collector, notes });
});
