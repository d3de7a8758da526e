import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { requestHash } from '../../../packages/cairn/src/core/encoding/fingerprint.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { release, Scene } from '../../operations/approvals/scene.ts';
import { Outside } from '../../support/outside.ts';
import { announce, PLACE, waitingRun, waits } from '../../support/waiting-runs.ts';
import { echo, Installation } from '../installation.ts';
import { Checked, document } from './checked.ts';
import { scenes } from './scenes.ts';
import { broken, nightly, parent } from './workflows.ts';

const HOUR_MS = 3_600_000;

const outside = new Outside();
const post = defineWorkflow({
  type: 'post',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    sent: step('send', { uses: [outside.capability] }, ({ perform }) =>
      perform(outside.capability, { text: 'hello' }),
    ),
  }),
});

const START = { type: 'echo', input: { text: 'hello' } };
const NEW = { type: 'echo', cron: '0 * * * *', input: { text: 'hi' }, name: 'hourly' };
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed']);
const NO_RUN = { id: `run_${'a'.repeat(26)}` };

let installation: Installation;
let checked: Checked;
/** Runs of every kind: completed, failed and undone, waiting, with children, with a large input. */
let runs: string[];
/** `METHOD /path status` of the answers of all scenes. */
const seen = new Set<string>();

async function setUp(): Promise<void> {
  runs = [];
  const workflows = [echo, broken, parent, nightly, release(), waits, post];
  installation = new Installation(workflows, [outside.binding]);
  const { tenantId } = PLACE;
  const key = await installation.key('boss', { tenantId, roles: ['installation'] });
  checked = new Checked(installation, key);
  const { world } = installation;
  const start = async (type: string, input: unknown) => {
    const { runId } = await checked.ask('POST /v1/runs', { body: { type, input, threadId: 't' } });
    runs.push(String(runId));
  };
  await start('broken', {});
  await start('parent', {});
  await start('echo', { text: 'x'.repeat(400_000) });
  await world.run();
  await start('echo', { text: 'not yet' });
  runs.push((await Scene.asking({ world, tenantId })).runId);
}

async function inNewInstallation(run: () => Promise<void>): Promise<void> {
  await setUp();
  await run();
  for (const one of checked.seen) seen.add(one);
}

const { scene, runAll } = scenes(inNewInstallation);

scene('reads of runs match their description, in every state of the run', async () => {
  const list = await checked.ask('GET /v1/runs', { query: '?limit=2' });
  await checked.ask('GET /v1/runs', { query: `?cursor=${encodeURIComponent(String(list.next))}` });
  const statuses = new Set<unknown>();
  for (const id of runs) {
    const run = await checked.ask('GET /v1/runs/{id}', { path: { id } });
    statuses.add(run.status);
    await checked.ask('GET /v1/runs/{id}/events', { path: { id }, query: '?limit=100' });
    await checked.ask('GET /v1/runs/{id}/consistency', { path: { id } });
    await checked.ask('POST /v1/runs/{id}/repair', { path: { id } });
    await checked.ask('GET /v1/runs/{id}/graph', { path: { id } });
    await checked.ask('GET /v1/runs/{id}/graph', { path: { id }, query: '?durations=true' });
    for (const under of ['steps', 'logs', 'effects'] as const)
      await checked.ask(`GET /v1/runs/{id}/${under}`, { path: { id } });
    await checked.ask('GET /v1/runs/{id}/memos', { path: { id }, query: '?step=say' });
    const { items } = await checked.ask('GET /v1/runs/{id}/checkpoints', { path: { id } });
    const withOutput = (items as Record<string, unknown>[]).find((one) => one.output ?? one.outputRef);
    const path = { id, seq: String(withOutput?.seq ?? 'none') };
    await checked.ask('GET /v1/runs/{id}/checkpoints/{seq}/output', { path });
  }
  expect([...statuses].sort()).toEqual(['awaiting_approval', 'completed', 'failed', 'pending']);
  for (const act of ['cancel', 'resume', 'replay', 'approve'])
    await checked.ask('POST /v1/runs/bulk', { body: { act, runs: [...runs, NO_RUN.id], dryRun: true } });
  await checked.ask('GET /v1/inbox', { query: '?limit=1' });
  await checked.ask('GET /v1/runs/counts', { query: '?threadId=t' });
  await checked.ask('GET /v1/runs/statistics');
  await checked.ask('GET /v1/budgets/today');
  await checked.ask('GET /v1/search', { query: '?q=t' });
  for (const under of ['', '/logs'] as const)
    await checked.ask(`GET /v1/runs/{id}${under}/stream`, { path: { id: runs[0] ?? '' } });
  await checked.ask('GET /v1/runs/stream', { query: '?limit=5' });
  await checked.ask('GET /v1/runs/stream', { query: '?cursor=1' });
  for (const under of ['', '/stream', '/events', '/graph', '/steps', '/logs', '/checkpoints', '/effects']) {
    await checked.ask(`GET /v1/runs/{id}${under}`, { path: NO_RUN });
    await checked.ask(`GET /v1/runs/{id}${under}`, { path: NO_RUN, query: '?what=1' });
  }
});

scene('starts match their description: new, repeated, changed, under way, refused', async () => {
  const headers = { 'idempotency-key': 'k1' };
  await checked.ask('POST /v1/runs', { body: START, headers });
  await checked.ask('POST /v1/runs', { body: START, headers });
  await checked.ask('POST /v1/runs', { body: { ...START, threadId: 'other' }, headers });
  await checked.ask('POST /v1/runs', { body: { type: 'nothing', input: {} } });
  await checked.ask('POST /v1/runs', { body: START, headers: { 'content-type': 'text/plain' } });
  const { world } = installation;
  const now = world.clock.now();
  await world.records.create({
    key: 'api:c.boss:busy',
    source: 'api',
    tenantId: PLACE.tenantId,
    status: 'processing',
    requestHash: requestHash('POST /v1/runs', START),
    createdAt: now,
    updatedAt: now,
    expiresAt: now + HOUR_MS,
    lockExpiresAt: now + HOUR_MS,
    attempts: 1,
  });
  await checked.ask('POST /v1/runs', { body: START, headers: { 'idempotency-key': 'busy' } });
  for (const key of ['k1', 'busy', 'none']) await checked.ask('GET /v1/idempotency/{key}', { path: { key } });
  expect(seenOf('POST /v1/runs')).toEqual(['200', '201', '202', '400', '415', '422']);
});

scene('changes of a run match their description', async () => {
  const { world } = installation;
  const asking = await Scene.asking({ world, tenantId: PLACE.tenantId });
  const gate = { id: asking.runId, stepId: 'gate' };
  const decide = 'POST /v1/runs/{id}/approvals/{stepId}';
  await checked.ask(decide, { path: gate, body: { decision: 'perhaps' } });
  await checked.ask(decide, { path: { ...gate, stepId: 'nowhere' }, body: { decision: 'approve' } });
  await checked.ask(decide, { path: gate, body: { decision: 'approve' } });
  await checked.ask(decide, { path: gate, body: { decision: 'reject' } });
  const late = await Scene.asking({ world, tenantId: PLACE.tenantId });
  const waiting = await waitingRun(world);
  await announce(world.deps, waiting);
  const signal = { name: 'anything', data: [1] };
  await checked.ask('POST /v1/runs/{id}/signals', { path: { id: late.runId }, body: signal });
  await checked.ask('POST /v1/runs/{id}/signals', { path: NO_RUN, body: signal });
  const built = { event: PLACE.event, key: PLACE.key, data: { build: 7 } };
  const delivered = await checked.ask('POST /v1/events', { body: built });
  expect(delivered.delivered).toEqual([waiting]);
  await checked.ask('POST /v1/events', { body: { ...built, key: 'other' } });
  await checked.ask('POST /v1/events', { body: {} });
  await checked.ask('GET /v1/runs/{id}', { path: { id: waiting } });
  const fail = 'POST /v1/runs/{id}/waits/{stepId}/fail';
  const expecting = await waitingRun(world);
  await announce(world.deps, expecting);
  const lost = { path: { id: expecting, stepId: 'any' }, body: { reason: 'lost' } };
  expect(await checked.ask(fail, lost)).toMatchObject({ stepId: 'any' });
  expect((await checked.ask(fail, lost)).code).toBe('RUN_INVALID_TRANSITION');
  await checked.ask(fail, { ...lost, body: {} });
  await checked.ask(fail, { ...lost, path: { ...NO_RUN, stepId: 'any' } });
  const cancel = { path: { id: late.runId }, body: { reason: 'enough' } };
  const suspend = { path: { id: late.runId }, body: { reason: 'to look first' } };
  expect(await checked.ask('POST /v1/runs/{id}/suspend', suspend)).toMatchObject({ status: 'suspended' });
  const standing = await checked.ask('GET /v1/runs/{id}', { path: { id: late.runId } });
  expect(standing.suspension).toMatchObject({ reason: 'to look first' });
  await checked.ask('POST /v1/runs/{id}/suspend', { path: { id: late.runId } });
  await checked.ask('POST /v1/runs/{id}/suspend', { ...suspend, path: NO_RUN });
  await checked.ask('POST /v1/runs/{id}/continue', { path: { id: late.runId }, body: {} });
  await checked.ask('POST /v1/runs/{id}/continue', { path: NO_RUN, body: {} });
  await checked.ask('POST /v1/runs/{id}/cancel', cancel);
  await checked.ask('GET /v1/runs/{id}', { path: { id: late.runId } });
  await checked.ask('GET /v1/runs/{id}/events', { path: { id: late.runId } });
  await checked.ask('POST /v1/runs/{id}/cancel', { path: { id: runs[0] ?? '' } });
  await checked.ask('POST /v1/runs/{id}/cancel', { path: NO_RUN });
  const many = [(await Scene.asking({ world, tenantId: PLACE.tenantId })).runId, NO_RUN.id];
  for (const act of ['approve', 'cancel', 'resume', 'replay'])
    await checked.ask('POST /v1/runs/bulk', { body: { act, runs: many } });
  await checked.ask('POST /v1/runs/bulk', { body: { act: 'cancel', filter: {} } });
});

scene('the heartbeat of a wait matches its description', async () => {
  const heartbeat = 'POST /v1/runs/{id}/waits/{stepId}/heartbeat';
  const { world } = installation;
  const id = await waitingRun(world);
  await announce(world.deps, id);
  world.clock.jump(60_000);
  const beat = { path: { id, stepId: 'any' } };
  expect(await checked.ask(heartbeat, beat)).toMatchObject({ stepId: 'any', recorded: true });
  expect(await checked.ask(heartbeat, beat)).toMatchObject({ recorded: false });
  await checked.ask('GET /v1/runs/{id}', { path: { id } });
  await checked.ask('GET /v1/runs/{id}/events', { path: { id } });
  await checked.ask(heartbeat, { path: { ...NO_RUN, stepId: 'any' } });
});

scene('effects match their description, and so do resolutions of one in doubt', async () => {
  const { world } = installation;
  outside.faults.push('lose_answer');
  const { runId } = await checked.ask('POST /v1/runs', { body: { type: 'post', input: {} } });
  await world.run();
  const id = String(runId);
  await checked.ask('GET /v1/runs/{id}', { path: { id } });
  const { items } = await checked.ask('GET /v1/runs/{id}/effects', { path: { id } });
  const [effect] = items as Record<string, unknown>[];
  expect(effect).toMatchObject({ status: 'blocked', blockedBy: 'doubt', request: { text: 'hello' } });
  const resolve = 'POST /v1/runs/{id}/effects/{effectId}/resolve';
  const path = { id, effectId: String(effect?.effectId) };
  await checked.ask(resolve, { path, body: { outcome: 'perhaps' } });
  await checked.ask(resolve, { path: { ...path, effectId: 'x' }, body: { outcome: 'failed' } });
  await checked.ask(resolve, { path: { ...NO_RUN, effectId: 'x' }, body: { outcome: 'failed' } });
  await checked.ask('POST /v1/runs/{id}/approvals/{stepId}', {
    path: { id, stepId: 'send' },
    body: { decision: 'approve' },
  });
  await checked.ask(resolve, { path, body: { outcome: 'recorded', result: { id: 1 }, note: 'I looked' } });
  const { code } = await checked.ask(resolve, { path, body: { outcome: 'failed' } });
  expect(code).toBe('EFFECT_RESOLVED');
  await world.run();
  const after = await checked.ask('GET /v1/runs/{id}/effects', { path: { id } });
  expect(after.items).toMatchObject([
    { status: 'recorded', result: { id: 1 }, resolution: { note: 'I looked' } },
    { status: 'reused' },
  ]);
});

scene('schedules match their description', async () => {
  const made = await checked.ask('POST /v1/schedules', { body: NEW });
  const path = { id: String(made.id) };
  await checked.ask('POST /v1/schedules', { body: { ...NEW, cron: 'now and then' } });
  installation.world.clock.jump(2 * HOUR_MS);
  const at = (hours: number) => new Date(installation.world.clock.now() + hours * HOUR_MS).toISOString();
  const { apiDeps } = installation;
  await tick({ ...apiDeps, declaredTenant: PLACE.tenantId });
  const fired = await checked.ask('GET /v1/schedules/{id}', { path });
  expect(fired).toMatchObject({ last: expect.anything(), lastCatchUp: expect.anything() });
  const declared = { path: { id: 'nightly.late' }, body: {} };
  expect(await checked.ask('PATCH /v1/schedules/{id}', declared)).toMatchObject({
    code: 'SCHEDULE_DECLARED',
  });
  await checked.ask('POST /v1/schedules/{id}/trigger', { path });
  await checked.ask('POST /v1/schedules/{id}/backfill', { path, body: { from: at(-2), to: at(-1) } });
  await checked.ask('POST /v1/schedules/{id}/backfill', { path, body: { from: 'yesterday' } });
  await checked.ask('PATCH /v1/schedules/{id}', { path, body: { catchUp: 'all', name: null } });
  await checked.ask('POST /v1/schedules/{id}/pause', { path, body: { reason: 'holidays' } });
  await checked.ask('GET /v1/schedules/{id}', { path });
  await checked.ask('GET /v1/schedules');
  await checked.ask('GET /v1/schedules', { query: '?limit=0' });
  await checked.ask('POST /v1/schedules/{id}/resume', { path });
  await checked.ask('DELETE /v1/schedules/{id}', { path });
  for (const route of [
    'GET /v1/schedules/{id}',
    'PATCH /v1/schedules/{id}',
    'DELETE /v1/schedules/{id}',
    'POST /v1/schedules/{id}/pause',
    'POST /v1/schedules/{id}/resume',
    'POST /v1/schedules/{id}/trigger',
  ]) {
    await checked.ask(route, { path });
  }
});

scene('successors match their description: previewed, made, repeated, refused, and read', async () => {
  const [failed = '', completed = '', large = ''] = runs;
  const asking = runs.at(-1) ?? '';
  for (const [id, mode] of [
    [failed, 'resume'],
    [completed, 'resume'],
    [completed, 'replay'],
    [large, 'fork'],
    [asking, 'resume'],
    [asking, 'replay'],
  ] as const) {
    await checked.ask('POST /v1/runs/{id}/preview', { path: { id }, body: { mode } });
  }
  const headers = { 'idempotency-key': 'successor' };
  const resume = 'POST /v1/runs/{id}/resume';
  const made = [
    await checked.ask(resume, { path: { id: failed }, headers }),
    await checked.ask('POST /v1/runs/{id}/replay', { path: { id: completed } }),
    await checked.ask('POST /v1/runs/{id}/fork', { path: { id: large }, body: { threadId: 'other' } }),
  ];
  await checked.ask(resume, { path: { id: failed }, headers });
  await checked.ask(resume, { path: { id: failed } });
  await checked.ask(resume, { path: { id: asking } });
  await checked.ask(resume, { path: { id: String(made[0]?.runId) } });
  const unknown = { planVersion: 7 };
  await checked.ask('POST /v1/runs/{id}/fork', { path: { id: large }, body: unknown });
  await checked.ask('POST /v1/runs/{id}/replay', { path: { id: asking } });
  expect(seenOf(resume)).toEqual(['200', '201', '409']);
  const { world } = installation;
  await world.run(() => made.every(({ runId }) => ENDED.has(world.stateOf(String(runId)).status)));
  for (const { runId } of made) {
    const path = { id: String(runId) };
    const { replay } = await checked.ask('GET /v1/runs/{id}', { path });
    expect(replay).toBe('finished');
    await checked.ask('GET /v1/runs/{id}/checkpoints', { path });
    await checked.ask('GET /v1/runs/{id}/steps', { path });
    await checked.ask('GET /v1/runs/{id}/events', { path });
  }
});

scene('answers about retention, holds and erasures match their description', async () => {
  const [failed = '', completed = ''] = runs;
  const asking = runs.at(-1) ?? '';
  const held = await checked.ask('POST /v1/runs/{id}/hold', {
    path: { id: failed },
    body: { reason: 'a dispute' },
  });
  expect(held).toMatchObject({ runId: failed, legalHold: { reason: 'a dispute' } });
  for (const [id, because] of [
    [failed, { why: 'held', runId: failed }],
    [asking, { why: 'live' }],
  ] as const) {
    const response = await checked.ask('GET /v1/runs/{id}/retention', { path: { id } });
    expect(response).toMatchObject({ runId: id, would: 'keep', because });
  }
  await checked.ask('GET /v1/runs/{id}/retention', { path: { id: completed } });
  const { items } = await checked.ask('GET /v1/retention', { query: '?limit=100' });
  const all = items as { runId: string; would: string }[];
  expect(all.find(({ runId }) => runId === failed)).toMatchObject({ would: 'keep' });
  expect(all.filter(({ would }) => would === 'delete')).not.toEqual([]);
  const { next } = await checked.ask('GET /v1/retention', { query: '?limit=1' });
  await checked.ask('GET /v1/retention', { query: `?limit=1&cursor=${String(next)}` });
  await checked.ask('POST /v1/runs/{id}/release-hold', { path: { id: failed } });
  const { runId } = await checked.ask('POST /v1/runs', { body: { type: 'echo', input: { text: 'gone' } } });
  await installation.world.run();
  const path = { id: String(runId) };
  const { id } = await checked.ask('POST /v1/runs/{id}/erase', { path, body: { confirm: runId } });
  await checked.ask('GET /v1/erasures/{id}', { path: { id: String(id) } });
  await checked.ask('POST /v1/erasures', { body: { tenantId: 'nobody', confirm: 'nobody' } });
  await checked.ask('GET /v1/erasures');
});

scene('answers about the installation match their description', async () => {
  await checked.ask('GET /v1/healthz', { key: '' });
  await checked.ask('GET /v1/openapi.json', { key: '' });
  await checked.ask('GET /v1/docs', { key: '' });
  const path = { type: 'echo' };
  await checked.ask('POST /v1/workflows/{type}/pause', { path, body: { reason: 'a look' } });
  await checked.ask('PUT /v1/runtime', { body: { killSwitch: true } });
  await checked.ask('GET /v1/runtime');
  await checked.ask('GET /v1/workflows');
  await checked.ask('GET /v1/workflows/{type}/input', { path });
  await checked.ask('PUT /v1/runtime', { body: { killSwitch: false } });
  await checked.ask('GET /v1/restore');
  await checked.ask('POST /v1/restore/begin', { body: {} });
  await checked.ask('GET /v1/workflows');
  await checked.ask('POST /v1/restore/release', { body: {} });
  await checked.ask('POST /v1/workflows/{type}/unpause', { path });
  const headers = { 'idempotency-key': 'new-client' };
  const body = { name: 'CI', role: 'submitter' };
  const { id, secret } = await checked.ask('POST /v1/clients', { body, headers });
  expect(secret).toEqual(expect.any(String));
  await checked.ask('POST /v1/clients', { body, headers });
  const client = { path: { id: String(id) } };
  await checked.ask('POST /v1/clients/{id}/rotate', client);
  await checked.ask('POST /v1/clients/{id}/revoke', client);
  for (const route of ['GET /v1/clients', 'GET /v1/me', 'GET /v1/metrics'] as const) await checked.ask(route);
  await checked.ask('GET /v1/diagnosis');
  const { heartbeats } = installation.diagnosis;
  const at = installation.world.clock.now();
  const found = { at, checked: 50, problems: { STEP_MISSING: 1 } };
  await heartbeats.record('recoverRuns', { at, tookMs: 3, outcome: 'failed', error: 'no' });
  await heartbeats.record('checkRuns', { at, tookMs: 3, outcome: 'done' }, { found });
  installation.world.clock.jump(HOUR_MS);
  const { functions, problems } = await checked.ask('GET /v1/diagnosis');
  expect([functions, problems]).toMatchObject([[{ error: 'no' }, {}], [{ code: 'STEP_MISSING', count: 1 }]]);
});

describe('every route', () => {
  beforeAll(async () => {
    await runAll();
    await setUp();
  });
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      isOpen: security !== undefined,
    })),
  );
  const path = { id: 'x', stepId: 'x', seq: 'x', type: 'x', key: 'x', effectId: 'x' };

  test.each(routes)(
    '$route has a successful answer in a scene, and refuses callers without a key as described',
    async (one) => {
      expect(seenOf(one.route, seen).filter((status) => status.startsWith('2'))).not.toEqual([]);
      if (one.isOpen) return;
      const { code } = await checked.ask(one.route, { path, key: '' });
      expect(code).toBe('UNAUTHENTICATED');
    },
  );
});

function seenOf(route: string, among: ReadonlySet<string> = checked.seen): string[] {
  return [...among]
    .filter((one) => one.startsWith(`${route} `))
    .map((one) => one.slice(route.length + 1))
    .sort();
}
