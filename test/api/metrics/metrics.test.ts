import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { ActiveRuns } from '../../../packages/cairn/src/ports/run-statistics.ts';
import { echo, Installation } from '../installation.ts';

const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({ gate: step.approval('gate', { timeout: '24h', ask: () => ({ question: '?' }) }) }),
});

/** Lines by the text before their value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

async function scrape(installation: Installation, key: string): Promise<Map<string, number>> {
  const answer = await installation.get('/v1/metrics', key);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return samplesOf(await answer.text());
}

/** Two runs that end after some time, one that waits, and a repeated request. */
async function busy() {
  const installation = new Installation([echo, asking]);
  const key = await installation.key('boss', { roles: ['installation'] });
  const body = { type: 'echo', input: { text: 'x' } };
  await installation.post(key, body, { 'idempotency-key': 'k' });
  await installation.post(key, body, { 'idempotency-key': 'k' });
  await installation.post(key, body);
  await installation.post(key, { type: 'asking', input: {} });
  // The 700 ms without a dispatch do not count for the duration.
  installation.world.clock.jump(700);
  const { runs } = installation.world.db;
  const statuses = () => [...runs.values()].map(({ snapshot }) => snapshot.status).sort();
  await installation.world.run(() => statuses().join() === 'awaiting_approval,completed,completed');
  return { installation, key };
}

describe('GET /v1/metrics', () => {
  test('has the four metrics with the names and labels of the specification', async () => {
    const { installation, key } = await busy();
    const samples = await scrape(installation, key);
    const named = (name: string) => [...samples].filter(([series]) => series.startsWith(name));
    const count = (from: string, to: string) =>
      samples.get(`gwi_run_transitions_total{from_state="${from}",to_state="${to}",tenant_id="acme"}`);
    expect(count('pending', 'running')).toBe(3);
    expect(count('running', 'completed')).toBe(2);
    expect(count('running', 'awaiting_approval')).toBe(1);
    expect(named('gwi_run_transitions_total')).toHaveLength(3);

    const ended = 'type="echo",status="completed",tenant_id="acme"';
    expect(samples.get(`gwi_run_duration_seconds_count{${ended}}`)).toBe(2);
    expect(samples.get(`gwi_run_duration_seconds_bucket{${ended},le="604800"}`)).toBe(2);
    expect(samples.get(`gwi_run_duration_seconds_bucket{${ended},le="+Inf"}`)).toBe(2);
    expect(samples.get(`gwi_run_duration_seconds_sum{${ended}}`)).toBeGreaterThanOrEqual(0);
    expect(named('gwi_run_duration_seconds')).toHaveLength(15);

    expect(named('gwi_run_active_gauge')).toEqual([
      ['gwi_run_active_gauge{status="pending",tenant_id="acme"}', 0],
      ['gwi_run_active_gauge{status="running",tenant_id="acme"}', 0],
      ['gwi_run_active_gauge{status="replaying",tenant_id="acme"}', 0],
      ['gwi_run_active_gauge{status="awaiting_approval",tenant_id="acme"}', 1],
      ['gwi_run_active_gauge{status="waiting_external",tenant_id="acme"}', 0],
      ['gwi_run_active_gauge{status="interrupted",tenant_id="acme"}', 0],
    ]);
    expect(named('gwi_idempotency_hits_total')).toEqual([
      ['gwi_idempotency_hits_total{source="api",result="miss"}', 1],
      ['gwi_idempotency_hits_total{source="api",result="hit"}', 1],
    ]);
  });

  test("has the tenant's drives, effects and appends, by result", async () => {
    const { installation, key } = await busy();
    installation.metrics.effect({ tenantId: 'acme', capabilityId: 'shelf.put', outcome: 'in_doubt' });
    installation.metrics.conflict({ tenantId: 'acme', leased: true });
    const samples = await scrape(installation, key);
    const drives = 'end="closed",cold="false",tenant_id="acme"';
    expect(samples.get(`gwi_drive_duration_seconds_count{${drives}}`)).toBe(2);
    expect(samples.get(`gwi_drive_duration_seconds_bucket{${drives},le="+Inf"}`)).toBe(2);
    const effects = 'capability="shelf.put",outcome="in_doubt",tenant_id="acme"';
    expect(samples.get(`gwi_effects_total{${effects}}`)).toBe(1);
    expect(samples.get('gwi_journal_conflicts_total{leased="true",tenant_id="acme"}')).toBe(1);
  });

  test('describes each metric, and says of counters that they are of one instance', async () => {
    const installation = new Installation();
    const key = await installation.key('boss', { roles: ['admin'] });
    const text = await (await installation.get('/v1/metrics', key)).text();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
    expect(types).toEqual([
      ['gwi_run_transitions_total', 'counter'],
      ['gwi_run_duration_seconds', 'histogram'],
      ['gwi_run_active_gauge', 'gauge'],
      ['gwi_idempotency_hits_total', 'counter'],
      ['gwi_effects_total', 'counter'],
      ['gwi_journal_conflicts_total', 'counter'],
      ['gwi_drive_duration_seconds', 'histogram'],
    ]);
    for (const [name, type] of types) {
      const [, help = ''] = new RegExp(`^# HELP ${name} (.*)$`, 'm').exec(text) ?? [];
      expect([name, help.includes('by the responding instance')]).toEqual([name, type !== 'gauge']);
    }
  });

  test('shows nothing of another tenant', async () => {
    const { installation } = await busy();
    const stranger = await installation.key('other', { tenantId: 'other', roles: ['admin'] });
    const samples = await scrape(installation, stranger);
    expect(samples.size).toBe(6);
    for (const [series, value] of samples) {
      expect(series).toMatch(/^gwi_run_active_gauge\{.*tenant_id="other"\}$/);
      expect(value).toBe(0);
    }
  });

  test('counts repetitions of requests other than starts too, each once', async () => {
    const { installation, key } = await busy();
    const cancel = () =>
      installation.api.request('/v1/runtime', {
        method: 'PUT',
        body: '{"killSwitch":false}',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': 'switch',
        },
      });
    for (let i = 0; i < 3; i += 1) expect((await cancel()).status).toBe(200);
    const samples = await scrape(installation, key);
    expect(samples.get('gwi_idempotency_hits_total{source="api",result="miss"}')).toBe(2);
    expect(samples.get('gwi_idempotency_hits_total{source="api",result="hit"}')).toBe(3);
  });

  test.each(['viewer', 'submitter', 'operator'] as const)('is refused to a %s', async (role) => {
    const installation = new Installation();
    const key = await installation.key('one', { roles: [role] });
    expect((await installation.get('/v1/metrics', key)).status).toBe(403);
    expect((await installation.api.request('/v1/metrics')).status).toBe(401);
  });
});

describe('the count of active runs', () => {
  async function counted(activeRuns: (tenantId: string) => Promise<readonly ActiveRuns[]>) {
    const installation = new Installation();
    const key = await installation.key('boss', { roles: ['admin'] });
    const stranger = await installation.key('other', { tenantId: 'other', roles: ['admin'] });
    let counts = 0;
    const statistics = {
      liveVersions: async () => [],
      tenants: async () => [],
      due: async () => [],
      activeRuns: (tenantId: string) => {
        counts += 1;
        return activeRuns(tenantId);
      },
    };
    const api = createApi({ ...installation.apiDeps, statistics });
    const ask = (as = key) => api.request('/v1/metrics', { headers: { authorization: `Bearer ${as}` } });
    return { ask, stranger, clock: installation.world.clock, counts: () => counts };
  }

  test('is made once for many callers within ten seconds, for each tenant', async () => {
    const { ask, stranger, clock, counts } = await counted(async () => [{ status: 'running', runs: 7 }]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    for (const answer of answers)
      expect(await answer.text()).toContain('gwi_run_active_gauge{status="running",tenant_id="acme"} 7\n');
    expect(counts()).toBe(1);
    await ask(stranger);
    expect(counts()).toBe(2);
    clock.jump(9_999);
    await ask();
    expect(counts()).toBe(2);
    clock.jump(1);
    await ask();
    expect(counts()).toBe(3);
  });

  test('that fails is absent, not zero, and is made again for the next caller', async () => {
    let down = true;
    const { ask } = await counted(async () => {
      if (down) throw new Error('down');
      return [{ status: 'running', runs: 1 }];
    });
    expect((await ask()).status).toBe(500);
    down = false;
    expect((await ask()).status).toBe(200);
  });
});
