import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { echo, Installation } from './installation.ts';

const input = z.object({});
const deployV1 = defineWorkflow({
  type: 'deploy',
  planVersion: 1,
  input,
  steps: (step) => ({ all: step('all', () => 1) }),
});
const deployV2 = defineWorkflow({
  type: 'deploy',
  planVersion: 2,
  input,
  on: {
    github: [{ event: 'push' }, { event: 'pull_request', actions: ['opened', 'reopened'] }],
    slack: { command: '/deploy' },
    pubsub: [{ topic: 'releases' }, { topic: 'approvals', deliver: 'attributes' }],
    schedule: [
      { cron: '0 3 * * *' },
      { id: 'weekly', cron: '0 5 * * 1', timezone: 'Europe/Berlin', catchUp: 'skip' },
    ],
  },
  steps(step) {
    const build = step('build', () => 1);
    const soak = step.sleep('soak', { needs: { build }, for: '10m' });
    const ship = step('ship', { needs: { built: build, soak } }, () => 2);
    return { ship };
  },
});

let installation: Installation;
let admin: string;
let viewer: string;
beforeEach(async () => {
  installation = new Installation([echo, deployV1, deployV2]);
  admin = await installation.key('boss', { roles: ['installation'] });
  viewer = await installation.key('eye', { roles: ['viewer'] });
});

interface Version {
  readonly planVersion: number;
  readonly deployed: boolean;
  readonly liveRuns: number;
  readonly steps?: readonly unknown[];
  readonly on?: unknown;
}

interface Listed {
  readonly killSwitch: boolean;
  readonly items: readonly {
    readonly type: string;
    readonly newest: number | null;
    readonly paused: unknown;
    readonly versions: readonly Version[];
  }[];
}

async function list(key = viewer, query = ''): Promise<Listed> {
  const answer = await installation.get(`/v1/workflows${query}`, key);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Listed;
}

/** Number of live runs by `type@version`. */
async function live(key = viewer): Promise<Record<string, number>> {
  const { items } = await list(key);
  return Object.fromEntries(
    items.flatMap(({ type, versions }) =>
      versions.map(({ planVersion, liveRuns }) => [`${type}@${planVersion}`, liveRuns]),
    ),
  );
}

async function send(
  path: string,
  { method = 'POST', body, key = admin, headers = {} }: Sending = {},
): Promise<Response> {
  return installation.api.request(path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
}

interface Sending {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe('GET /v1/workflows', () => {
  test('lists the deployed versions of each type, the newest first, with their steps', async () => {
    expect(await list()).toEqual({
      killSwitch: false,
      items: [
        {
          type: 'deploy',
          newest: 2,
          paused: null,
          versions: [
            {
              planVersion: 2,
              deployed: true,
              liveRuns: 0,
              steps: [
                { id: 'build', kind: 'step', needs: [] },
                { id: 'soak', kind: 'sleep', needs: ['build'] },
                { id: 'ship', kind: 'step', needs: ['build', 'soak'] },
              ],
              on: {
                github: [{ event: 'push' }, { event: 'pull_request', actions: ['opened', 'reopened'] }],
                slack: [{ command: '/deploy' }],
                pubsub: [
                  { topic: 'releases', delivers: false },
                  { topic: 'approvals', delivers: true },
                ],
                schedule: [
                  { id: 'deploy', cron: '0 3 * * *', timezone: 'Etc/UTC', catchUp: 'latest' },
                  { id: 'deploy.weekly', cron: '0 5 * * 1', timezone: 'Europe/Berlin', catchUp: 'skip' },
                ],
              },
            },
            {
              planVersion: 1,
              deployed: true,
              liveRuns: 0,
              steps: [{ id: 'all', kind: 'step', needs: [] }],
              on: { github: [], slack: [], pubsub: [], schedule: [] },
            },
          ],
        },
        {
          type: 'echo',
          newest: 1,
          paused: null,
          versions: [
            {
              planVersion: 1,
              deployed: true,
              liveRuns: 0,
              steps: [{ id: 'say', kind: 'step', needs: [] }],
              on: { github: [], slack: [], pubsub: [], schedule: [] },
            },
          ],
        },
      ],
    });
  });

  test('counts live runs of each version, of the tenant only', async () => {
    const { world } = installation;
    const own = { tenantId: 'acme' };
    await world.start('deploy', {}, own);
    await world.start('deploy', {}, { ...own, workflow: deployV1 });
    await world.start('deploy', {}, { ...own, workflow: deployV1 });
    await world.start('deploy', {}, { tenantId: 'other' });
    expect(await live()).toEqual({ 'deploy@2': 1, 'deploy@1': 2, 'echo@1': 0 });
    const other = await installation.key('them', { tenantId: 'other', roles: ['viewer'] });
    expect(await live(other)).toEqual({ 'deploy@2': 1, 'deploy@1': 0, 'echo@1': 0 });
    await world.run();
    expect(await live()).toEqual({ 'deploy@2': 0, 'deploy@1': 0, 'echo@1': 0 });
  });

  test('names versions and types that have live runs but are not deployed', async () => {
    const { world } = installation;
    const own = { tenantId: 'acme' };
    await world.start('deploy', {}, { ...own, workflow: { ...deployV2, planVersion: 3 } });
    await world.start('echo', {}, { ...own, workflow: { ...deployV1, type: 'bygone' } });
    const { items } = await list();
    const deploy = items.find(({ type }) => type === 'deploy');
    expect(deploy).toMatchObject({ newest: 2 });
    expect(deploy?.versions[0]).toEqual({ planVersion: 3, deployed: false, liveRuns: 1 });
    expect(items.find(({ type }) => type === 'bygone')).toEqual({
      type: 'bygone',
      newest: null,
      paused: null,
      versions: [{ planVersion: 1, deployed: false, liveRuns: 1 }],
    });
  });

  test('shows what is paused since when: the reason only to the role installation, the author to nobody', async () => {
    await send('/v1/workflows/deploy/pause', { body: { reason: 'wrong labels' } });
    await send('/v1/runtime', { method: 'PUT', body: { killSwitch: true } });
    const { killSwitch, items } = await list();
    expect(killSwitch).toBe(true);
    const since = new Date(installation.world.clock.now()).toISOString();
    expect(items.map(({ type, paused }) => [type, paused])).toEqual([
      ['deploy', { since }],
      ['echo', null],
    ]);
    const forInstallation = await list(admin);
    expect(forInstallation.items[0]?.paused).toEqual({ since, reason: 'wrong labels' });
  });

  test('has only names, versions, live runs and pauses on request', async () => {
    await installation.world.start('deploy', {}, { tenantId: 'acme' });
    await send('/v1/workflows/deploy/pause', { body: { reason: 'wrong labels' } });
    const whole = await list();
    const short = whole.items.map((workflow) => ({
      ...workflow,
      versions: workflow.versions.map(({ planVersion, deployed, liveRuns }) => ({
        planVersion,
        deployed,
        liveRuns,
      })),
    }));
    expect(await list(viewer, '?summary=true')).toEqual({ ...whole, items: short });
    expect(await list(viewer, '?summary=false')).toEqual(whole);
  });

  test('takes no other parameters or values', async () => {
    expect((await installation.get('/v1/workflows?summary=yes', viewer)).status).toBe(400);
    expect((await installation.get('/v1/workflows?type=echo', viewer)).status).toBe(400);
  });
});

describe('POST /v1/workflows/{type}/pause and unpause', () => {
  test('answer with the mark, and with the number of enqueued runs', async () => {
    await installation.world.start('deploy', {}, { tenantId: 'acme' });
    const paused = await send('/v1/workflows/deploy/pause', { body: { reason: 'wrong labels' } });
    expect(paused.status).toBe(200);
    const since = new Date(installation.world.clock.now()).toISOString();
    const mark = { since, by: 'c.boss', reason: 'wrong labels' };
    expect(await paused.json()).toEqual({ type: 'deploy', paused: mark });
    const unpaused = await send('/v1/workflows/deploy/unpause');
    expect(unpaused.status).toBe(200);
    expect(await unpaused.json()).toEqual({ type: 'deploy', paused: null, woken: 1 });
  });

  test('with a key repeat the same bytes, and do nothing again', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const first = await send('/v1/workflows/deploy/pause', { body: { reason: 'r' }, headers });
    await send('/v1/workflows/deploy/unpause', { headers: { 'idempotency-key': 'k2' } });
    installation.world.clock.jump(60_000);
    const again = await send('/v1/workflows/deploy/pause', { body: { reason: 'r' }, headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
    expect((await list()).items[0]).toMatchObject({ type: 'deploy', paused: null });
    const other = await send('/v1/workflows/echo/pause', { body: { reason: 'r' }, headers });
    expect(other.status).toBe(422);
  });

  test('leave starts unchanged: 201, and the run is pending', async () => {
    await send('/v1/workflows/echo/pause');
    const submitter = await installation.key('app');
    const started = await installation.post(submitter, { type: 'echo', input: { text: 'hi' } });
    expect(started.status).toBe(201);
    expect(await started.json()).toMatchObject({ status: 'pending' });
  });

  test.each<[string, string, Sending, number]>([
    ['an unknown type', '/v1/workflows/gamma/pause', {}, 404],
    ['an unknown type', '/v1/workflows/gamma/unpause', {}, 404],
    ['a name every object has', '/v1/workflows/constructor/pause', {}, 404],
    ['an unknown member', '/v1/workflows/echo/pause', { body: { why: 'x' } }, 400],
    ['an empty reason', '/v1/workflows/echo/pause', { body: { reason: '' } }, 400],
    ['an overlong reason', '/v1/workflows/echo/pause', { body: { reason: 'x'.repeat(501) } }, 400],
    ['a parameter', '/v1/workflows/echo/pause?x=1', {}, 400],
    ['another method', '/v1/workflows/echo/pause', { method: 'PUT', body: {} }, 405],
    ['no switch', '/v1/runtime', { method: 'PUT', body: {} }, 400],
    ['a switch that is no boolean', '/v1/runtime', { method: 'PUT', body: { killSwitch: 'on' } }, 400],
    ['an unknown member', '/v1/runtime', { method: 'PUT', body: { killSwitch: true, paused: {} } }, 400],
    ['another method', '/v1/runtime', { method: 'POST', body: { killSwitch: true } }, 405],
  ])('%s at %s is refused (%#)', async (_what, path, sending, status) => {
    const answer = await send(path, sending);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await installation.world.config.read()).toBeUndefined();
  });
});

describe('GET and PUT /v1/runtime', () => {
  test('switch the kill switch, and show its author', async () => {
    expect(await (await installation.get('/v1/runtime', admin)).json()).toEqual({
      killSwitch: false,
      paused: {},
    });
    await installation.world.start('deploy', {}, { tenantId: 'other' });
    await installation.world.start('deploy', {}, { tenantId: 'acme' });
    const on = await send('/v1/runtime', { method: 'PUT', body: { killSwitch: true } });
    expect(on.status).toBe(200);
    expect(await on.json()).toEqual({ killSwitch: true, woken: 0 });
    await send('/v1/workflows/echo/pause', { body: { reason: 'r' } });
    const since = new Date(installation.world.clock.now()).toISOString();
    expect(await (await installation.get('/v1/runtime', admin)).json()).toEqual({
      killSwitch: true,
      paused: { echo: { since, by: 'c.boss', reason: 'r' } },
    });
    const off = await send('/v1/runtime', { method: 'PUT', body: { killSwitch: false } });
    expect(await off.json()).toEqual({ killSwitch: false, woken: 1 });
  });
});

describe('permissions', () => {
  const roles: readonly [Role, number][] = [
    ['viewer', 403],
    ['submitter', 403],
    ['operator', 403],
    ['admin', 403],
    ['installation', 200],
  ];
  test.each(roles)('to switch: %s %i', async (role, status) => {
    const key = await installation.key('someone', { roles: [role] });
    const answers = [
      await send('/v1/workflows/echo/pause', { key }),
      await send('/v1/workflows/echo/unpause', { key }),
      await send('/v1/runtime', { key, method: 'PUT', body: { killSwitch: true } }),
      await send('/v1/runtime', { key, method: 'GET' }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    expect((await installation.world.config.read()) !== undefined).toBe(status === 200);
  });

  test('require a key', async () => {
    for (const [path, method] of [
      ['/v1/workflows', 'GET'],
      ['/v1/workflows/echo/pause', 'POST'],
      ['/v1/runtime', 'PUT'],
    ] as const) {
      expect((await send(path, { method, key: 'none' })).status).toBe(401);
    }
  });
});
