/** Entry points after a definition was changed under its version: nothing starts on it, and no request is lost. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import type { WorkflowOptions } from '../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { KnownPlans } from '../../packages/cairn/src/engine/plans/known-plans.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';
import { MINUTE, Scene, stored, T0 } from '../operations/schedules/scene.ts';
import type { World } from '../support/world.ts';
import { PubsubEndpoint } from './pubsub/endpoint.ts';
import { commandForm, SlackEndpoint } from './slack/endpoint.ts';

/** The definition, and another one under the same version. */
function both(type: string, on: NonNullable<WorkflowOptions<unknown>['on']>): readonly [Workflow, Workflow] {
  const of = (stepId: string) =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.any(),
      on,
      steps: (step) => ({ out: step(stepId, () => 1) }),
    });
  return [of('ship'), of('mail')];
}

/** An entry point after the deployment of these definitions, in a process without cached plans. */
function deployed<D extends object>(deps: D, world: World, ...workflows: Workflow[]) {
  const registry = new WorkflowRegistry(workflows);
  const plans = new KnownPlans({ ...world.deps, store: world.planStore });
  return { ...deps, registry, plans };
}

const types = (world: World) => [...world.db.runs.values()].map(({ snapshot }) => snapshot.type).sort();

describe('GitHub', () => {
  const [old, changed] = both('ships', { github: [{ event: 'push' }] });
  const [beside] = both('beside', { github: [{ event: 'push' }] });
  const push = (id: string) => deliveryRequest({ event: 'push', body: `{"after":"${id}"}`, id });

  test('is answered 409 with advice, other listeners start, and the missing run starts when it is sent again', async () => {
    const installation = new Installation([old, beside]);
    const { world, github } = installation;
    expect((await githubWebhook(github, push('first'))).status).toBe(202);
    expect(types(world)).toEqual(['beside', 'ships']);

    const wrong = deployed(github, world, changed, beside);
    for (const _ of [1, 2]) {
      const answer = await githubWebhook(wrong, push('second'));
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({
        code: 'PLAN_CHANGED',
        help: expect.stringContaining('planVersion 2'),
      });
      expect(types(world)).toEqual(['beside', 'beside', 'ships']);
    }
    const again = await githubWebhook(deployed(github, world, old, beside), push('second'));
    expect(again.status).toBe(202);
    expect(types(world)).toEqual(['beside', 'beside', 'ships', 'ships']);
  });
});

describe('Slack', () => {
  const [old, changed] = both('ships', { slack: { command: '/deploy' } });

  test('is shown the cause and the remedy, and starts nothing', async () => {
    const endpoint = new SlackEndpoint([old]);
    await endpoint.post({});
    const form = commandForm({ trigger_id: 'second' });
    const answer = await endpoint.post({ form }, deployed(endpoint.deps, endpoint.world, changed));
    expect(answer.status).toBe(200);
    const { text } = (await answer.json()) as { readonly text: string };
    expect(text).toContain("the definition of version 1 of 'ships' changed");
    expect(text).toContain('planVersion 2');
    expect(types(endpoint.world)).toEqual(['ships']);
  });
});

describe('Pub/Sub', () => {
  const [old, changed] = both('ships', { pubsub: [{ topic: 'orders' }] });

  test('delivers the message again until the definition is restored, and then starts one run', async () => {
    const endpoint = new PubsubEndpoint([old]);
    await endpoint.take('orders', { messageId: '1', data: {} });
    const wrong = deployed(endpoint.deps, endpoint.world, changed);
    const message = { messageId: '2', data: {} };
    for (const _ of [1, 2])
      await expect(endpoint.take('orders', message, wrong)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    expect(types(endpoint.world)).toEqual(['ships']);
    const right = deployed(endpoint.deps, endpoint.world, old);
    expect(await endpoint.take('orders', message, right)).toMatchObject({ kind: 'started' });
    expect(await endpoint.take('orders', message, right)).toMatchObject({ kind: 'repeated' });
  });
});

describe('a schedule', () => {
  const [old, changed] = both('ships', {});

  function scene() {
    const on = new Scene([old]);
    const to = (...workflows: readonly Workflow[]) => ({
      ...on.depsOver(workflows),
      plans: new KnownPlans({ ...on.world.deps, store: on.world.planStore }),
    });
    return { on, to };
  }

  const policies = [
    ['latest', [5, 20]],
    ['all', [5, 10, 15, 20]],
    ['skip', [5]],
  ] as const;
  test.each([
    ...policies.map(([catchUp, slots]) => ['a changed workflow', catchUp, slots, [changed]] as const),
    ...policies.map(([catchUp, slots]) => ['an absent workflow', catchUp, slots, []] as const),
  ])(
    'of %s reports why nothing is started, tries at its next slot, and then treats missed slots by its policy: %s',
    async (_, catchUp, slots, wrong) => {
      const { on, to } = scene();
      await on.deps.schedules.create(stored({ type: 'ships', catchUp }));
      await on.tickAt(5.5);
      expect(await on.tickAt(10.5, to(...wrong))).toEqual({
        due: 1,
        fired: 0,
        skipped: 0,
        refused: 0,
        failed: 0,
        isCut: false,
      });
      expect(await on.schedule()).toMatchObject({
        last: {
          error:
            wrong.length > 0
              ? { code: 'PLAN_CHANGED', message: expect.stringContaining('mail') }
              : { code: 'NOT_FOUND', message: 'no workflow "ships" is deployed' },
        },
        nextAt: T0 + 15 * MINUTE,
      });
      expect(await on.tickAt(13, to(...wrong))).toMatchObject({ due: 0 });
      expect(await on.tickAt(22.5, to(old))).toMatchObject({ due: 1, failed: 0 });
      expect(on.slots()).toEqual([...slots]);
      expect(await on.schedule()).toMatchObject({
        fired: slots.length,
        skipped: 4 - slots.length,
        refused: 0,
      });
    },
  );

  test('of an absent workflow fires what is on time from its deployment on, and tries a rare slot every ten minutes', async () => {
    const { on, to } = scene();
    await on.deps.schedules.create(stored({ type: 'ships', catchUp: 'skip' }));
    await on.deps.schedules.create(stored({ id: 'sch_2', type: 'ships', cron: '5 * * * *' }));
    await on.tickAt(5.5, to());
    expect(await on.schedule('sch_2')).toMatchObject({ nextAt: T0 + 15.5 * MINUTE, refused: 0 });
    await on.tickAt(10.5, to(old));
    await on.tickAt(15.5, to(old));
    expect(on.slots()).toEqual([5, 10, 15]);
  });

  test('does not delay the slots of other schedules', async () => {
    const [sound] = both('beside', {});
    const { on } = scene();
    const plans = () => new KnownPlans({ ...on.world.deps, store: on.world.planStore });
    await on.deps.schedules.create(stored({ type: 'ships' }));
    await on.deps.schedules.create(stored({ id: 'sch_2', type: 'beside' }));
    await on.tickAt(5.5, { ...on.depsOver([old, sound]), plans: plans() });
    const wrong = { ...on.depsOver([changed, sound]), plans: plans() };
    expect(await on.tickAt(10.5, wrong)).toMatchObject({ due: 2, fired: 1 });
    expect(await on.tickAt(15.5, wrong)).toMatchObject({ due: 2, fired: 1 });
  });
});

describe('a repetition that the mapping of the next version refuses has the run of the first', () => {
  const of = (input: () => unknown) =>
    defineWorkflow({
      type: 'ships',
      planVersion: 1,
      input: z.any(),
      on: { slack: { command: '/deploy', input }, pubsub: { topic: 'ships', input } },
      steps: (step) => ({ out: step('ship', () => 1) }),
    });
  const old = of(() => ({}));
  const refusing = of(() => {
    throw new Error('the words changed');
  });

  test('by Pub/Sub', async () => {
    const endpoint = new PubsubEndpoint([old]);
    const first = await endpoint.take('ships', { messageId: '1' });
    const later = deployed(endpoint.deps, endpoint.world, refusing);
    const again = await endpoint.take('ships', { messageId: '1' }, later);
    expect([first.kind, again]).toEqual(['started', { ...first, kind: 'repeated' }]);
    expect((await endpoint.take('ships', { messageId: '2' }, later)).kind).toBe('refused');
  });

  test('by Slack', async () => {
    const endpoint = new SlackEndpoint([old]);
    const first = await (await endpoint.post({})).json();
    const later = deployed(endpoint.deps, endpoint.world, refusing);
    expect(await (await endpoint.post({}, later)).json()).toEqual(first);
    expect(types(endpoint.world)).toEqual(['ships']);
  });
});
