import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

const asleep = (name = 'night') =>
  defineWorkflow({
    type: 'asleep',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ slept: step.sleep(name, { for: '8h' }) }),
  });

test('a run whose time came while its version was away says what it stands for, since when, and that it can go on', async () => {
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
    message: "The run cannot go on: version 1 of 'asleep' is not deployed.",
    help: 'Deploy that version again. The run goes on within a minute after that, or at once when it is resumed.',
  });
  expect(await after(asleep('day'))).toMatchObject({ code: 'PLAN_CHANGED', since });
  expect(await after(asleep())).toMatchObject({
    code: 'DISPATCH_DUE',
    since,
    help: 'Resume it to have it go on at once.',
  });
  await world.run();
  expect(await seen()).toBeUndefined();
});
