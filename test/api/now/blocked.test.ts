import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { Installation } from '../installation.ts';

const asleep = (name = 'night') =>
  defineWorkflow({
    type: 'asleep',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ slept: step.sleep(name, { for: '8h' }) }),
  });

test('a run that became due while its version was not deployed shows why and since when it waited, and that it can continue', async () => {
  const installation = new Installation([asleep()]);
  const { world, apiDeps } = installation;
  const key = await installation.key('dev', { roles: ['admin'] });
  const answer = await installation.post(key, { type: 'asleep', input: {} });
  const { runId } = (await answer.json()) as { runId: string };
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
  const seen = async (api = installation.api) => {
    const headers = { authorization: `Bearer ${key}` };
    return ((await (await api.request(`/v1/runs/${runId}`, { headers })).json()) as { blocked?: object })
      .blocked;
  };
  const after = (...workflows: ReturnType<typeof asleep>[]) =>
    seen(createApi({ ...apiDeps, registry: new WorkflowRegistry(workflows) }));

  expect(await after()).toBeUndefined();
  const dueAt = world.db.runs.get(runId)?.snapshot.waits[0]?.dueAt ?? 0;
  world.clock.jump(dueAt + 60_000 - world.clock.now());
  const since = new Date(dueAt).toISOString();
  expect(await after()).toEqual({
    code: 'PLAN_VERSION_UNAVAILABLE',
    since,
    message: "The run is blocked: version 1 of 'asleep' is not deployed.",
    help: 'Deploy that version again. The run continues within a minute, or immediately if you resume it.',
  });
  expect(await after(asleep('day'))).toMatchObject({ code: 'PLAN_CHANGED', since });
  expect(await after(asleep())).toMatchObject({
    code: 'DISPATCH_DUE',
    since,
    help: 'Resume the run to continue immediately.',
  });
  await world.run();
  expect(await seen()).toBeUndefined();
});

test('lists, searches and their stream mark such a run as blocked, and no others', async () => {
  const installation = new Installation([asleep()]);
  const { world, apiDeps } = installation;
  const key = await installation.key('dev', { roles: ['admin'] });
  const start = async () => {
    const answer = await installation.post(key, { type: 'asleep', input: {} });
    return ((await answer.json()) as { runId: string }).runId;
  };
  const [due, parked] = [await start(), await start()];
  await world.run(() => world.db.runs.get(due)?.snapshot.status === 'waiting_external');
  const away = { ...apiDeps, registry: new WorkflowRegistry([]) };
  world.clock.jump(8 * 3_600_000 - 1_000);
  const fresh = await start();
  await drive({ ...world.deps, registry: away.registry }, { runId: fresh });
  world.clock.jump(60_000);
  const headers = { authorization: `Bearer ${key}` };
  const bodyOf = async (path: string) => {
    const answer = await createApi(away).request(path, { headers });
    return path.includes('stream') ? await answer.text() : await answer.json();
  };
  const { items } = (await bodyOf('/v1/runs')) as {
    items: { id: string; blocked?: object; waits: { dueAt: string }[] }[];
  };
  const blockedOf = (id: string) => items.find((item) => item.id === id)?.blocked;
  const code = 'PLAN_VERSION_UNAVAILABLE';
  for (const id of [due, parked]) {
    const since = items.find((item) => item.id === id)?.waits[0]?.dueAt;
    expect(blockedOf(id)).toEqual({ code, since });
  }
  expect(blockedOf(fresh)).toEqual({ code, since: expect.any(String) });
  const found = (await bodyOf(`/v1/search?q=${due}`)) as { items: { run: { blocked?: object } }[] };
  expect(found.items[0]?.run.blocked).toMatchObject({ code });
  expect(await bodyOf('/v1/runs/stream?follow=false')).toContain(`"blocked":{"code":"${code}"`);
  await world.run();
  const after = (await (await installation.api.request('/v1/runs', { headers })).json()) as typeof items & {
    items: typeof items;
  };
  expect(after.items.map(({ blocked }) => blocked)).toEqual([undefined, undefined, undefined]);
});

test('a run cancelled while the version that undoes it is missing says so, and can be ended without undoing', async () => {
  const buying = defineWorkflow({
    type: 'buying',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const paid = step('pay', { compensate: () => {} }, () => 7);
      return { slept: step.sleep('night', { needs: { paid }, for: '8h' }) };
    },
  });
  const installation = new Installation([buying]);
  const { world, apiDeps } = installation;
  const key = await installation.key('dev', { roles: ['admin'] });
  const answer = await installation.post(key, { type: 'buying', input: {} });
  const { runId } = (await answer.json()) as { runId: string };
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
  const registry = new WorkflowRegistry([]);
  const api = createApi({ ...apiDeps, registry });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const cancel = async (body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await api.request(`/v1/runs/${runId}/cancel`, init)).json()) as object;
  };

  expect(await cancel({ reason: 'too dear' })).toMatchObject({ status: 'cancelling', reason: 'too dear' });
  await world.run(() => world.db.runs.get(runId)?.snapshot.parked !== undefined, { ...world.deps, registry });
  const run = (await (await api.request(`/v1/runs/${runId}`, { headers })).json()) as object;
  expect(run).toMatchObject({
    status: 'waiting_external',
    blocked: {
      code: 'PLAN_VERSION_UNAVAILABLE',
      message: expect.stringContaining(
        'that version must run the compensations of its completed steps first',
      ),
      help: expect.stringContaining(`cairn runs cancel ${runId} --without-undo`),
    },
  });
  expect(await cancel({ withoutUndo: true })).toMatchObject({ status: 'cancelled', reason: 'too dear' });
  expect(world.db.runs.get(runId)?.events.at(-1)?.data).toMatchObject({ notUndone: { steps: ['pay'] } });
});
