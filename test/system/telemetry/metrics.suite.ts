/** Metrics of all instances, as a collector receives them. The first suite over a cloud: it counts everything. */
import { expect, test } from '@jest/globals';
import { Collector, type Point } from '../../platform/telemetry/collector.ts';
import { type CloudStage, ended, eventually, type RunView, startRun, tryGet } from '../support.ts';

/** @param stage its cloud has two workers that send to the collector */
export function metrics(stage: CloudStage, collector: Collector): void {
  async function started(type: string, input: object, key: string): Promise<string> {
    const answer = await startRun(stage.cloud.ready, type, input, key);
    return ((await answer.json()) as { runId: string }).runId;
  }

  /** Over all instances, by labels. */
  function sums(name: string): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const { labels, value } of collector.points(name)) {
      const series = Object.entries(labels)
        .map(([label, text]) => `${label}=${text}`)
        .sort()
        .join(' ');
      sums[series] = (sums[series] ?? 0) + value;
    }
    return sums;
  }

  function newestGauge(): Record<string, number> {
    const newest = collector.exports.findLast(({ metrics }) =>
      metrics.some(({ name }) => name === 'gwi_run_active_gauge'),
    );
    const alone = new Collector();
    if (newest) alone.exports.push(newest);
    const series = ({ labels, value }: Point): [string, number] => [
      `status=${labels.status} tenant_id=${labels.tenant_id}`,
      value,
    ];
    return Object.fromEntries(alone.points('gwi_run_active_gauge').map(series));
  }

  test('a collector receives the four metrics with their labels and sums', async () => {
    const RUNS = 4;
    const runIds: string[] = [];
    for (let i = 0; i < RUNS; i += 1) runIds.push(await started('chain-10', {}, `k${i}`));
    for (let i = 0; i < RUNS; i += 1) expect(await started('chain-10', {}, `k${i}`)).toBe(runIds[i]);
    for (const runId of runIds) await ended(stage.cloud.ready, runId);
    const waiting = await started('awaiting', { key: 'never' }, 'w');
    await eventually('a run that waits', async () => {
      const run = await tryGet<RunView>(stage.cloud.ready, `/v1/runs/${waiting}`);
      return run?.status === 'waiting_external' ? run : undefined;
    });

    const all = {
      gwi_run_transitions_total: {
        'from_state=pending tenant_id=local to_state=running': RUNS + 1,
        'from_state=running tenant_id=local to_state=completed': RUNS,
        'from_state=running tenant_id=local to_state=waiting_external': 1,
      },
      gwi_run_duration_seconds: { 'status=completed tenant_id=local type=chain-10': RUNS },
      gwi_idempotency_hits_total: { 'result=hit source=api': RUNS, 'result=miss source=api': RUNS + 1 },
      gwi_run_active_gauge: {
        'status=awaiting_approval tenant_id=local': 0,
        'status=interrupted tenant_id=local': 0,
        'status=pending tenant_id=local': 0,
        'status=replaying tenant_id=local': 0,
        'status=running tenant_id=local': 0,
        'status=waiting_external tenant_id=local': 1,
      },
    };
    const { gwi_run_active_gauge: gauge, ...counted } = all;
    await eventually('every count at the collector', () =>
      Object.entries(counted).every(([name, wanted]) => same(sums(name), wanted)) ? true : undefined,
    );
    // Two instances can each have scanned, at different times: the newest count is the truth.
    await eventually('the count of active runs', () => (same(newestGauge(), gauge) ? true : undefined));

    const instances = new Set(collector.exports.map(({ resource }) => resource['service.instance.id']));
    // The worker for requests, and each worker that drove a run; how many did depends on the speed of the machine.
    expect(instances.size).toBeGreaterThanOrEqual(2);
    expect(collector.exports[0]?.resource).toMatchObject({
      'service.name': 'cairn',
      'service.namespace': stage.cloud.ready.projectId,
      'deployment.environment.name': 'local',
    });
    const seconds = collector
      .points('gwi_run_duration_seconds')
      .reduce((sum, point) => sum + (point.sum ?? 0), 0);
    expect(seconds).toBeGreaterThan(0);
  });
}

function same(one: Record<string, number>, other: Record<string, number>): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}
