import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { tick } from '../../packages/cairn/src/triggers/schedule/tick.ts';
import { echo, Installation } from './installation.ts';

const HOUR = 3_600_000;
const NEW = { type: 'echo', cron: '0 * * * *', timezone: 'Europe/Berlin', input: { text: 'hi' } };

const declaring = defineWorkflow({
  type: 'nightly',
  planVersion: 1,
  input: z.strictObject({ depth: z.number() }),
  on: { schedule: [{ id: 'late', cron: '0 3 * * *', input: { depth: 2 } }] },
  steps: (step) => ({ done: step('do', ({ input }) => input.depth) }),
});

type Body = Record<string, unknown>;

let installation: Installation;
let operator: string;
beforeEach(async () => {
  installation = new Installation([echo, declaring]);
  operator = await installation.key('ops', { roles: ['operator'] });
});

async function send(
  method: string,
  path: string,
  { body, key = operator, once }: { body?: unknown; key?: string; once?: string } = {},
): Promise<{ status: number; body: Body; replayed: boolean; location: string | null }> {
  const answer = await installation.api.request(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const replayed = answer.headers.get('idempotency-replayed') === 'true';
  const location = answer.headers.get('location');
  return { status: answer.status, body: (await answer.json()) as Body, replayed, location };
}

async function make(changes: object = {}): Promise<string> {
  const made = await send('POST', '/v1/schedules', { body: { ...NEW, ...changes } });
  expect(made.status).toBe(201);
  return String(made.body.id);
}

function tickAfter(ms: number) {
  const { world, apiDeps } = installation;
  world.clock.jump(ms);
  return tick({ ...apiDeps, declaredTenant: 'acme' });
}

test('the answer to a creation has a Location, also when repeated; that to a change or a refusal has none', async () => {
  const made = await send('POST', '/v1/schedules', { body: NEW, once: 'k' });
  expect(made.location).toBe(`/v1/schedules/${made.body.id}`);
  expect(await send('GET', made.location ?? '')).toMatchObject({ status: 200, body: { id: made.body.id } });
  const again = await send('POST', '/v1/schedules', { body: NEW, once: 'k' });
  expect([again.replayed, again.location]).toEqual([true, made.location]);

  const triggered = await send('POST', `${made.location}/trigger`, { once: 't' });
  expect(triggered.location).toBe(`/v1/runs/${triggered.body.runId}`);
  expect((await send('GET', triggered.location ?? '')).status).toBe(200);

  const refused = await send('POST', '/v1/schedules', { body: { ...NEW, cron: 'now and then' }, once: 'r' });
  const changed = await send('PATCH', made.location ?? '', { body: { catchUp: 'all' } });
  expect([refused.status, refused.location]).toEqual([400, null]);
  expect([changed.status, changed.location]).toEqual([200, null]);
});

describe('a schedule', () => {
  test('is made, read, listed, and fired', async () => {
    const made = await send('POST', '/v1/schedules', { body: { ...NEW, name: 'hourly' } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^sch_[0-9a-f]{32}$/),
        name: 'hourly',
        origin: 'stored',
        state: 'active',
        ...NEW,
        catchUp: 'latest',
        nextAt: '2026-01-01T01:00:00.000Z',
        slots: { fired: 0, skipped: 0, refused: 0 },
        createdBy: 'c.ops',
        createdAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(made.body.upcoming).toEqual([1, 2, 3, 4, 5].map((hour) => `2026-01-01T0${hour}:00:00.000Z`));
    const path = `/v1/schedules/${made.body.id}`;
    expect(await send('GET', path)).toMatchObject({ status: 200, body: made.body });
    await tickAfter(HOUR + 1);
    await installation.world.run();
    const { body } = await send('GET', path);
    expect(body).toMatchObject({
      last: { slot: '2026-01-01T01:00:00.000Z', runId: expect.stringMatching(/^run_/) },
      slots: { fired: 1 },
    });
    const runs = await send('GET', `/v1/runs?threadId=${made.body.id}`);
    expect(runs.body.items).toMatchObject([{ id: (body.last as Body).runId, status: 'completed' }]);
  });

  test('is the same for a repetition, and another one without a key', async () => {
    const first = await send('POST', '/v1/schedules', { body: NEW, once: 'k' });
    const again = await send('POST', '/v1/schedules', { body: NEW, once: 'k' });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await make()).not.toBe(first.body.id);
    const other = await send('POST', '/v1/schedules', { body: { ...NEW, name: 'x' }, once: 'k' });
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  test('is changed, and its new times apply from then on', async () => {
    const id = await make();
    installation.world.clock.jump(HOUR / 2);
    const changed = await send('PATCH', `/v1/schedules/${id}`, {
      body: { cron: '15 * * * *', catchUp: 'all', name: 'quarter past' },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        cron: '15 * * * *',
        catchUp: 'all',
        name: 'quarter past',
        nextAt: '2026-01-01T01:15:00.000Z',
        input: NEW.input,
      },
    });
    const cleared = await send('PATCH', `/v1/schedules/${id}`, { body: { name: null } });
    expect(cleared.body).not.toHaveProperty('name');
  });

  test('does not fire while it is paused, and does not make up for it', async () => {
    const id = await make({ catchUp: 'all' });
    const paused = await send('POST', `/v1/schedules/${id}/pause`, { body: { reason: 'too loud' } });
    expect(paused).toMatchObject({
      status: 200,
      body: { state: 'paused', pause: { by: 'c.ops', reason: 'too loud' } },
    });
    expect(paused.body).not.toHaveProperty('nextAt');
    expect((paused.body.upcoming as string[]).length).toBe(5);
    const again = await send('POST', `/v1/schedules/${id}/pause`, { body: { reason: 'other' } });
    expect(again.body).toMatchObject({ pause: { reason: 'too loud' } });
    expect(await tickAfter(5.5 * HOUR)).toMatchObject({ due: 0 });
    const resumed = await send('POST', `/v1/schedules/${id}/resume`);
    expect(resumed.body).toMatchObject({ state: 'active', nextAt: '2026-01-01T06:00:00.000Z' });
    expect(resumed.body).not.toHaveProperty('pause');
    expect(await tickAfter(HOUR)).toMatchObject({ fired: 1, skipped: 0 });
  });

  test('is triggered at any time, once per request, also while it is paused', async () => {
    const id = await make();
    await send('POST', `/v1/schedules/${id}/pause`);
    const first = await send('POST', `/v1/schedules/${id}/trigger`, { once: 't' });
    expect(first).toMatchObject({
      status: 201,
      body: { scheduleId: id, runId: expect.stringMatching(/^run_/) },
    });
    expect(await send('POST', `/v1/schedules/${id}/trigger`, { once: 't' })).toEqual({
      ...first,
      replayed: true,
    });
    const second = await send('POST', `/v1/schedules/${id}/trigger`);
    expect(second.body.runId).not.toBe(first.body.runId);
    const run = await send('GET', `/v1/runs/${first.body.runId}`);
    expect(run.body).toMatchObject({ trigger: { source: 'scheduled', userId: 'c.ops' }, threadId: id });
    expect(installation.world.db.runs.size).toBe(2);
  });

  test('is backfilled with its missing slots, and reports their number', async () => {
    const id = await make();
    await tickAfter(HOUR + 1);
    installation.world.clock.jump(5 * HOUR);
    const range = { from: '2026-01-01T01:00:00+00:00', to: '2026-01-01T04:00:00Z' };
    const path = `/v1/schedules/${id}/backfill`;
    const counts = (started: number, existing: number, dryRun = false) => ({
      status: 200,
      body: { scheduleId: id, dryRun, slots: 4, started, existing },
    });
    expect(await send('POST', path, { body: { ...range, dryRun: true } })).toMatchObject(counts(0, 0, true));
    expect(await send('POST', path, { body: range })).toMatchObject(counts(3, 1));
    expect(await send('POST', path, { body: range })).toMatchObject(counts(0, 4));
    expect(installation.world.db.runs.size).toBe(4);
  });

  test('is deleted once, and its runs remain', async () => {
    const id = await make();
    await tickAfter(HOUR + 1);
    const gone = await send('DELETE', `/v1/schedules/${id}`, { once: 'd' });
    expect(gone).toMatchObject({ status: 200, body: { id, deleted: true } });
    expect(await send('DELETE', `/v1/schedules/${id}`, { once: 'd' })).toEqual({ ...gone, replayed: true });
    expect(await send('DELETE', `/v1/schedules/${id}`)).toMatchObject({ status: 404 });
    expect(await send('GET', `/v1/schedules/${id}`)).toMatchObject({ status: 404 });
    expect(await tickAfter(HOUR)).toMatchObject({ due: 0 });
    expect(installation.world.db.runs.size).toBe(1);
  });
});

describe('a schedule that a workflow declares', () => {
  const path = '/v1/schedules/nightly.late';
  beforeEach(() => tickAfter(0));

  test('is listed, paused, resumed and triggered like any other', async () => {
    const { body } = await send('GET', '/v1/schedules');
    expect(body.items).toMatchObject([
      { id: 'nightly.late', origin: 'declared', type: 'nightly', cron: '0 3 * * *' },
    ]);
    expect(await send('POST', `${path}/pause`)).toMatchObject({ status: 200, body: { state: 'paused' } });
    await tickAfter(24 * HOUR);
    expect((await send('GET', path)).body).toMatchObject({ state: 'paused', slots: { fired: 0 } });
    expect(await send('POST', `${path}/resume`)).toMatchObject({ status: 200, body: { state: 'active' } });
    expect(await send('POST', `${path}/trigger`)).toMatchObject({ status: 201 });
  });

  test.each([
    ['PATCH', { cron: '0 4 * * *' }],
    ['DELETE', undefined],
  ])('is not changed by %s', async (method, body) => {
    const answer = await send(method, path, body === undefined ? {} : { body });
    expect(answer).toMatchObject({ status: 409, body: { code: 'SCHEDULE_DECLARED' } });
    expect((await send('GET', path)).body).toMatchObject({ cron: '0 3 * * *' });
  });
});

describe('a refusal, which writes nothing, answers', () => {
  const refusals: readonly (readonly [string, string, string, unknown, number, string, string?])[] = [
    ['another type', 'POST', '', { ...NEW, type: 'none' }, 404, 'NOT_FOUND', 'type'],
    ['a line of six fields', 'POST', '', { ...NEW, cron: '* * * * * *' }, 400, 'INVALID_INPUT', 'cron'],
    ['a line that is never due', 'POST', '', { ...NEW, cron: '0 0 30 2 *' }, 400, 'INVALID_INPUT', 'cron'],
    ['another zone', 'POST', '', { ...NEW, timezone: 'Mars/Base' }, 400, 'INVALID_INPUT', 'timezone'],
    [
      'an input the workflow refuses',
      'POST',
      '',
      { ...NEW, input: { text: 1 } },
      400,
      'INVALID_INPUT',
      'input.text',
    ],
    ['another policy', 'POST', '', { ...NEW, catchUp: 'some' }, 400, 'INVALID_INPUT', 'catchUp'],
    ['a member it does not know', 'POST', '', { ...NEW, every: '5m' }, 400, 'INVALID_INPUT', 'every'],
    ['no JSON', 'POST', '', '{', 400, 'INVALID_INPUT'],
    ['a body that is too large', 'POST', '', { ...NEW, name: 'x'.repeat(70_000) }, 413, 'PAYLOAD_TOO_LARGE'],
    ['one that is not there', 'GET', '/sch_none', undefined, 404, 'NOT_FOUND'],
    ['one that cannot be there', 'GET', '/..%2Fruns', undefined, 404, 'NOT_FOUND'],
    ['a change of one that is not there', 'PATCH', '/sch_none', { name: 'x' }, 404, 'NOT_FOUND'],
    ['an unknown verb', 'POST', '/sch_none/restart', {}, 404, 'NOT_FOUND'],
    ['another method', 'PUT', '', NEW, 405, 'METHOD_NOT_ALLOWED'],
    ['a query it does not know', 'GET', '?state=active', undefined, 400, 'INVALID_INPUT', 'state'],
  ];
  test.each(refusals.map((refusal) => [refusal[0], refusal] as const))('%s', async (_, refusal) => {
    const [, method, path, body, status, code, field] = refusal;
    const { world } = installation;
    const answer = await send(method, `/v1/schedules${path}`, { body, once: 'k' });
    expect(answer).toMatchObject({ status, body: { code, ...(field === undefined ? {} : { field }) } });
    expect([world.db.schedules.size, world.db.records.size, world.db.runs.size]).toEqual([0, 0, 0]);
  });

  test.each([
    ['the future', { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }, 'to'],
    ['what runs back', { from: '2025-01-02T00:00:00Z', to: '2025-01-01T00:00:00Z' }, 'to'],
    ['more than a thousand slots', { from: '2025-01-01T00:00:00Z', to: '2025-03-01T00:00:00Z' }, 'to'],
    ['no times', { from: 'yesterday', to: '2025-01-01T00:00:00Z' }, 'from'],
  ])('a backfill of %s', async (_, body, field) => {
    const id = await make();
    const answer = await send('POST', `/v1/schedules/${id}/backfill`, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field } });
    expect(installation.world.db.runs.size).toBe(0);
  });
});

describe('permissions', () => {
  const calls: readonly [string, string, unknown][] = [
    ['PATCH', '', { name: 'x' }],
    ['POST', '/pause', {}],
    ['POST', '/resume', {}],
    ['POST', '/trigger', {}],
    ['POST', '/backfill', { from: '2025-01-01T00:00:00Z', to: '2025-01-01T02:00:00Z' }],
    ['DELETE', '', undefined],
  ];

  test.each([
    ['viewer', false],
    ['submitter', false],
    ['operator', true],
    ['admin', true],
  ] as const)('a %s may read, and change: %s', async (role, may) => {
    const id = await make();
    const key = await installation.key('someone', { roles: [role] });
    expect(await send('GET', '/v1/schedules', { key })).toMatchObject({ status: 200 });
    expect(await send('GET', `/v1/schedules/${id}`, { key })).toMatchObject({ status: 200 });
    expect((await send('POST', '/v1/schedules', { key, body: NEW })).status).toBe(may ? 201 : 403);
    for (const [method, path, body] of calls) {
      const { status } = await send(method, `/v1/schedules/${id}${path}`, { key, body });
      expect([method, path, status < 300]).toEqual([method, path, may]);
      if (!may) expect(status).toBe(403);
    }
  });

  test('another tenant cannot see or change it', async () => {
    const id = await make();
    const key = await installation.key('stranger', { tenantId: 'evil', roles: ['admin'] });
    const before = await send('GET', `/v1/schedules/${id}`);
    expect((await send('GET', '/v1/schedules', { key })).body).toEqual({ items: [] });
    const none = await send('GET', '/v1/schedules/sch_none', { key });
    for (const [method, path, body] of [['GET', '', undefined] as const, ...calls]) {
      const answer = await send(method, `/v1/schedules/${id}${path}`, { key, body });
      expect(answer).toEqual(none);
    }
    expect(await send('GET', `/v1/schedules/${id}`)).toEqual(before);
    expect(installation.world.db.runs.size).toBe(0);
  });
});
