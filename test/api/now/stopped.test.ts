import { beforeEach, expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CachedRuntimeConfig } from '../../../packages/cairn/src/engine/cached-runtime-config.ts';
import type { RuntimeConfig } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { intercept } from '../../support/intercept.ts';
import { Installation } from '../installation.ts';

const SINCE = Date.parse('2026-01-02T03:04:05.000Z');
const paused = new Map([['echo', { since: SINCE, by: 'ada of another tenant', reason: 'wrong labels' }]]);
const restore = { at: SINCE, by: 'system', isPaused: true };

let installation: Installation;
let runId: string;
beforeEach(async () => {
  installation = new Installation();
  const answer = await installation.post(await installation.key('dev'), {
    type: 'echo',
    input: { text: 'hi' },
  });
  runId = ((await answer.json()) as { runId: string }).runId;
});

async function set(config: Partial<RuntimeConfig>): Promise<void> {
  const { world } = installation;
  const known = await world.config.read();
  const next = { killSwitch: false, paused: new Map<string, never>(), ...config };
  expect((await world.config.write(next, known?.version)).kind).toBe('written');
  // After this time every instance knows the switch.
  world.clock.jump(3_000);
}

async function stopped(key: string, api = installation.api): Promise<unknown> {
  const answer = await api.request(`/v1/runs/${runId}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { stopped?: unknown }).stopped;
}

test('a run shows what operators stopped until it has ended: the reason only to the role installation, the author to nobody', async () => {
  const viewer = await installation.key('eye', { roles: ['viewer'] });
  const operator = await installation.key('boss', { roles: ['installation'] });
  const pause = { by: 'paused', type: 'echo', since: '2026-01-02T03:04:05.000Z' };
  expect(await stopped(viewer)).toBeUndefined();
  await set({ paused });
  expect(await stopped(viewer)).toEqual(pause);
  expect(await stopped(operator)).toEqual({ ...pause, reason: 'wrong labels' });
  await set({ paused: new Map([['other', { since: SINCE, by: 'ada' }]]) });
  expect(await stopped(viewer)).toBeUndefined();
  await set({ paused, restore });
  expect(await stopped(viewer)).toEqual({ by: 'restored' });
  await set({ restore: { ...restore, isPaused: false } });
  expect(await stopped(viewer)).toBeUndefined();
  await set({ killSwitch: true, paused, restore });
  expect(await stopped(viewer)).toEqual({ by: 'kill_switch' });
  await set({});
  await installation.world.run();
  await set({ killSwitch: true });
  expect(await stopped(viewer)).toBeUndefined();
});

test('the switches cost an instance one read every three seconds, whatever the number of runs', async () => {
  const viewer = await installation.key('eye', { roles: ['viewer'] });
  await set({ paused });
  const calls: string[] = [];
  const counted = <T extends object>(port: T): T =>
    intercept(port, (call, proceed) => {
      calls.push(call.method);
      return proceed();
    });
  const { apiDeps, world } = installation;
  const config = counted(apiDeps.config);
  const runtime = new CachedRuntimeConfig(config, world.clock);
  const api = createApi({ ...apiDeps, config, statistics: counted(apiDeps.statistics), runtime });
  for (let seconds = 0; seconds < 6; seconds += 1) {
    for (let pages = 0; pages < 5; pages += 1) expect(await stopped(viewer, api)).toBeDefined();
    world.clock.jump(1_000);
  }
  expect(calls).toEqual(['read', 'read']);
});
