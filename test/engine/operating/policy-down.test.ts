import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { PolicyVerdict } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { World } from '../../support/world.ts';

/** All that is no verdict; the type of an author's own JavaScript is not checked. */
const NO_VERDICTS = {
  throws: () => {
    throw new Error('nobody answers');
  },
  rejects: () => Promise.reject(new Error('nobody answers')),
  'never answers': () => new Promise(() => {}),
  nothing: () => undefined,
  text: () => 'yes',
  'the text false': () => ({ allowed: 'false', policySnapshotId: 'p' }),
  'a number': () => Promise.resolve({ allowed: 1, policySnapshotId: 'p' }),
  'no rules': () => ({ allowed: true }),
} as const;
type NoVerdict = keyof typeof NO_VERDICTS;
const ALLOWS: PolicyVerdict = { allowed: true, policySnapshotId: 'p' };

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

const noVerdict = fc.constantFrom(...(Object.keys(NO_VERDICTS) as NoVerdict[]));

test('whatever a policy does in place of an answer, nothing runs unasked, and the run goes on with the first answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(noVerdict, { maxLength: 12 }), async (before) => {
      const left = [...before];
      let unaskedAtBody = -1;
      const workflow = defineWorkflow({
        type: 'guarded',
        planVersion: 1,
        input: z.object({}),
        policy: () => {
          const next = left.shift();
          return next === undefined ? ALLOWS : (NO_VERDICTS[next]() as PolicyVerdict);
        },
        steps: (step) => ({
          a: step('a', () => {
            unaskedAtBody = left.length;
          }),
        }),
      });
      const world = new World({ workflows: [workflow] });
      const id = await world.start('guarded');
      await world.run(() => isOver(world.stateOf(id)));
      const { status, failures } = world.stateOf(id);
      expect([status, failures, unaskedAtBody]).toEqual(['completed', undefined, 0]);
      const types = await world.eventTypes(id);
      expect(types.filter((type) => type === 'policy_evaluated')).toHaveLength(1);
    }),
    { numRuns: 40 },
  );
});

test.each(Object.keys(NO_VERDICTS) as NoVerdict[])(
  'a cancel ends a run whose policy (%s) gives no answer',
  async (kind) => {
    let ran = false;
    const workflow = defineWorkflow({
      type: 'guarded',
      planVersion: 1,
      input: z.object({}),
      policy: () => NO_VERDICTS[kind]() as PolicyVerdict,
      steps: (step) => ({
        a: step('a', () => {
          ran = true;
        }),
      }),
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('guarded');
    await world.run(() => world.stateOf(runId).lease !== undefined);
    const asked = world.clock.now();
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', actor: 'u.ada' });
    await world.run(() => isOver(world.stateOf(runId)));
    expect([world.stateOf(runId).status, ran]).toEqual(['cancelled', false]);
    expect(world.clock.now() - asked).toBeLessThan(5 * 60_000);
  },
);
