import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { World } from '../../support/world.ts';

test('a policy that is down for a day is asked less and less often, and the run goes on once it answers', async () => {
  let up = false;
  const workflow = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy: async () => {
      if (!up) throw new Error('nobody answers');
      return { allowed: true, policySnapshotId: 'p' };
    },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const world = new World({ workflows: [workflow] });
  const id = await world.start('guarded');
  const begun = world.clock.now();
  await world.run(() => world.clock.now() > begun + 24 * 3_600_000);
  // 30 s, 1, 2, 4 … min, then once an hour: a claim and a release each.
  expect((await world.eventTypes(id)).length).toBeLessThan(2 * 35);
  const { failures } = world.stateOf(id);
  expect(failures?.times).toBeGreaterThan(20);
  expect(failures?.error).toEqual({
    code: 'INTERNAL',
    message: "the policy of workflow 'guarded' could not be evaluated: nobody answers",
    retryable: true,
  });
  up = true;
  await world.run(() => world.db.runs.get(id)?.snapshot.status === 'completed');
  expect(world.clock.now()).toBeLessThan(begun + 26 * 3_600_000);
  expect(world.stateOf(id).failures).toBeUndefined();
});
