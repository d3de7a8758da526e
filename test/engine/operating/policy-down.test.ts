import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { PolicyDecision } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import { World } from '../../support/world.ts';

/** Values that are no decision. The compiler does not check an author's own JavaScript. */
const NO_DECISIONS = {
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
type NoDecision = keyof typeof NO_DECISIONS;
const ALLOWS: PolicyDecision = { allowed: true, policySnapshotId: 'p' };

test('a policy that fails for a day is asked less and less often, and the run continues once it answers', async () => {
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

const noDecision = fc.constantFrom(...(Object.keys(NO_DECISIONS) as NoDecision[]));

test('for any value of a policy that is not an answer nothing runs, and the run continues with the first answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(noDecision, { maxLength: 12 }), async (before) => {
      const left = [...before];
      let unaskedAtBody = -1;
      const workflow = defineWorkflow({
        type: 'guarded',
        planVersion: 1,
        input: z.object({}),
        policy: () => {
          const next = left.shift();
          return next === undefined ? ALLOWS : (NO_DECISIONS[next]() as PolicyDecision);
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

test.each(Object.keys(NO_DECISIONS) as NoDecision[])(
  'a cancel ends a run whose policy (%s) gives no answer',
  async (kind) => {
    let ran = false;
    const workflow = defineWorkflow({
      type: 'guarded',
      planVersion: 1,
      input: z.object({}),
      policy: () => NO_DECISIONS[kind]() as PolicyDecision,
      steps: (step) => ({
        a: step('a', () => {
          ran = true;
        }),
      }),
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('guarded');
    await world.run(() => world.stateOf(runId).lease !== undefined);
    const startedAt = world.clock.now();
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', actor: 'u.ada' });
    await world.run(() => isOver(world.stateOf(runId)));
    expect([world.stateOf(runId).status, ran]).toEqual(['cancelled', false]);
    expect(world.clock.now() - startedAt).toBeLessThan(5_000);
  },
);

test.each(Object.keys(NO_DECISIONS) as NoDecision[])(
  'the time limit of a run ends it although its policy (%s) gives no answer',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1_000, max: 300_000 }), async (timeout) => {
        let ran = false;
        const workflow = defineWorkflow({
          type: 'guarded',
          planVersion: 1,
          input: z.object({}),
          timeout,
          policy: () => NO_DECISIONS[kind]() as PolicyDecision,
          steps: (step) => ({
            a: step('a', () => {
              ran = true;
            }),
          }),
        });
        const world = new World({ workflows: [workflow] });
        const runId = await world.start('guarded');
        const begun = world.clock.now();
        const late = () => world.clock.now() - begun - timeout;
        await world.run(() => isOver(world.stateOf(runId)) || late() > 90_000);
        const { status, error } = world.stateOf(runId);
        expect([status, error?.code, ran]).toEqual(['failed', 'RUN_TIMEOUT', false]);
        // A dispatch that asks notices it within seconds; a run that rests is dispatched by the scan.
        expect(late()).toBeLessThan(70_000);
      }),
      { numRuns: 8 },
    );
  },
);

/** A run whose policy never answers, while it is asked, and the number of questions. */
async function asking() {
  let requestCount = 0;
  const workflow = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy: () => {
      requestCount += 1;
      return NO_DECISIONS['never answers']() as Promise<PolicyDecision>;
    },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const world = new World({ workflows: [workflow], settings: { budgetMs: 48_000 } });
  const runId = await world.start('guarded');
  await world.run(() => requestCount > 0);
  return { world, runId, since: world.clock.now(), asked: () => requestCount };
}

const lastEvent = async (world: World, runId: string) =>
  (await world.store.readEvents(runId, 0, 1_000)).at(-1);

describe('a dispatch that waits for a policy', () => {
  test('releases the run at once when its instance is shut down', async () => {
    const { world, runId, since } = await asking();
    world.shutdown.abort();
    await world.run(() => world.stateOf(runId).lease === undefined);
    expect(await lastEvent(world, runId)).toMatchObject({
      type: 'run_released',
      data: { reason: 'shutdown' },
    });
    expect(world.clock.now() - since).toBeLessThan(100);
  });

  test('releases a suspended run within seconds', async () => {
    const { world, runId, since } = await asking();
    await suspendRun(world.deps, { runId, tenantId: 't1', actor: 'u.ada', reason: 'look first' });
    await world.run(() => world.stateOf(runId).lease === undefined);
    expect(await lastEvent(world, runId)).toMatchObject({ type: 'run_released', data: { reason: 'held' } });
    expect(world.clock.now() - since).toBeLessThan(5_000);
  });

  test('counts a policy as failed that is silent until its deadline, and asks it once', async () => {
    const { world, runId, since, asked } = await asking();
    await world.run(() => world.stateOf(runId).lease === undefined);
    expect(await lastEvent(world, runId)).toMatchObject({ type: 'run_released', data: { reason: 'retry' } });
    expect(world.stateOf(runId).failures).toMatchObject({
      times: 1,
      error: { message: expect.stringMatching(/did not answer before the dispatch ended/) },
    });
    expect([world.clock.now() - since, asked()]).toEqual([48_000, 1]);
  });
});

test('asks a silent policy once: three questions together have 60 s', async () => {
  const requests: number[] = [];
  const workflow = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    policy: () => {
      requests.push(world.clock.now());
      return NO_DECISIONS['never answers']() as Promise<PolicyDecision>;
    },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const world = new World({ workflows: [workflow] });
  const id = await world.start('guarded');
  const begun = world.clock.now();
  await world.run(() => world.stateOf(id).failures !== undefined);
  expect([requests.length, world.clock.now() - begun]).toEqual([1, 60_000]);
});

test('a step whose policy is silent stops within seconds of a cancel', async () => {
  let isAsked = false;
  const workflow = defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      a: step(
        'a',
        {
          policy: () => {
            isAsked = true;
            return NO_DECISIONS['never answers']() as Promise<PolicyDecision>;
          },
        },
        () => 1,
      ),
    }),
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('guarded');
  await world.run(() => isAsked);
  const since = world.clock.now();
  await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', actor: 'u.ada' });
  await world.run(() => isOver(world.stateOf(runId)));
  expect(world.stateOf(runId).status).toBe('cancelled');
  expect(world.clock.now() - since).toBeLessThan(5_000);
});
