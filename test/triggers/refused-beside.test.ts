/** A workflow whose own functions throw: the request is refused, and other workflows and later messages are not affected. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { WorkflowOptions } from '../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';
import { Scene, stored } from '../operations/schedules/scene.ts';
import type { World } from '../support/world.ts';
import { PubsubEndpoint } from './pubsub/endpoint.ts';

function workflow(type: string, more: Partial<WorkflowOptions<unknown>> = {}) {
  return defineWorkflow({
    type,
    planVersion: 1,
    input: z.any(),
    ...more,
    steps: (step) => ({ a: step('a', () => 1) }),
  });
}

const fail = (): never => {
  throw new Error('a slip of the author');
};
const throwing = z.any().refine(fail);
const types = (world: World) => [...world.db.runs.values()].map(({ snapshot }) => snapshot.type).sort();

describe('a delivery to several workflows', () => {
  const on = { github: { event: 'push' } };
  const slips = [
    ['tags', { tags: fail }],
    ['schema', { input: throwing }],
    ['schema, whose result is no JSON', { input: z.any().transform(() => new Date(0)) }],
  ] as const;
  const places = ['first', 'last'] as const;

  test.each(slips.flatMap(([what, slip]) => places.map((place) => [what, place, slip] as const)))(
    'starts all but the one that fails by its %s, and is %s: that one is named, however often it is sent',
    async (_what, place, slip) => {
      const bad = workflow('bad', { on, ...slip });
      const sound = ['one', 'two'].map((type) => workflow(type, { on }));
      const installation = new Installation(place === 'first' ? [bad, ...sound] : [...sound, bad]);
      const { world, github } = installation;
      for (const _ of [1, 2]) {
        const answer = await githubWebhook(
          github,
          deliveryRequest({ event: 'push', body: '{"after":"x"}', id: 'd' }),
        );
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT' });
        expect(types(world)).toEqual(['one', 'two']);
      }
    },
  );
});

test('a message on which the schema throws is acknowledged, because it would throw at every delivery', async () => {
  const endpoint = new PubsubEndpoint([
    workflow('orders', { input: throwing, on: { pubsub: [{ topic: 'orders' }] } }),
  ]);
  expect(await endpoint.take('orders', { data: {} })).toEqual({ kind: 'refused', code: 'INVALID_INPUT' });
  expect(endpoint.errors).toEqual(['pubsub_message_refused']);
});

test('a slot on which the schema throws is settled, so that the schedule continues', async () => {
  const on = new Scene([workflow('ships', { input: throwing })]);
  await on.deps.schedules.create(stored({ type: 'ships' }));
  expect(await on.tickAt(5.5)).toMatchObject({ due: 1, refused: 1, failed: 0 });
  expect(await on.tickAt(10.5)).toMatchObject({ due: 1, refused: 1, failed: 0 });
});
