import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { KnownPlans } from '../../../packages/cairn/src/engine/plans/known-plans.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { NEWER, World } from '../../support/world.ts';

const BODY_MS = 20_000;
const HOUR = 3_600_000;

interface Family {
  readonly world: World;
  readonly child: Workflow;
  readonly parent: Workflow;
  /** Bodies that were called. */
  readonly calls: string[];
  readonly corrected: (input: () => object) => void;
}

/** A parent that works beside its child, so that it is not suspended, with what a deployment may replace. */
function family(): Family {
  const calls: string[] = [];
  let inputOf = () => ({});
  const slowly = (name: string) => () => {
    calls.push(name);
    return new Promise<string>((resolve) => {
      world.clock.timer(BODY_MS, () => resolve(name));
    });
  };
  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ out: step('out', slowly('out')) }),
  });
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      beside: step('beside', slowly('beside')),
      one: step.child('one', { workflow: 'child', input: () => inputOf(), onFailure: 'skip' }),
    }),
  });
  const world: World = new World({ workflows: [child, parent] });
  const corrected = (input: () => object) => {
    inputOf = input;
  };
  return { world, child, parent, calls, corrected };
}

/** The dependencies of a process that was deployed with these workflows. */
function deployed({ deps, planStore, records }: World, workflows: readonly Workflow[]) {
  const plans = new KnownPlans({ ...deps, store: planStore });
  const own = { ...deps, registry: new WorkflowRegistry(workflows), plans };
  return { ...own, otherRuns: otherRuns({ ...own, records }) };
}

const next = (more: object) =>
  defineWorkflow({
    type: 'child',
    planVersion: 2,
    input: z.object({}),
    steps: (step) => ({ other: step('other', () => 'other') }),
    ...more,
  });

const REDEPLOYS: Record<string, (family: Family) => readonly Workflow[]> = {
  'its next version refuses the input': ({ child, parent }) => [
    child,
    next({ input: z.object({ added: z.string() }) }),
    parent,
  ],
  'the tags of its next version throw': ({ child, parent }) => [
    child,
    next({
      tags: () => {
        throw new Error('no tags');
      },
    }),
    parent,
  ],
  'its workflow is left out for an hour': ({ parent }) => [parent],
  'the function that makes its input throws': ({ child, parent, corrected }) => {
    corrected(() => {
      throw new Error('corrected for the worse');
    });
    return [child, parent];
  },
};

/** A dispatch of the parent has started the child, whose task is taken, and can be killed. */
async function childStarted() {
  const all = family();
  const { world, calls } = all;
  const runId = await world.start('parent');
  const before = mortal(world.deps, 7);
  const task = world.queue.take();
  void drive(before.deps, { runId });
  await settle();
  return { all, world, calls, runId, before, task, started: world.queue.take() };
}

test.each(Object.entries(REDEPLOYS))(
  'a parent continues beside a started child of a newer version although, when the parent is taken over, %s',
  async (_, redeploy) => {
    const { all, world, calls, runId, before, task, started } = await childStarted();
    before.kill();
    const childId = childRunId(runId, 'one.1');
    const schemaVersion = world.writtenBy(childId, NEWER);
    if (task) world.queue.repeat(task, { at: world.clock.now() + 100, answered: false });

    const until = world.clock.now() + HOUR;
    await world.run(() => world.clock.now() >= until, deployed(world, redeploy(all)));
    expect(calls).toEqual(['beside', 'beside']);
    expect((await world.folded(runId)).waits).toMatchObject([{ kind: 'child', announced: true }]);
    world.writtenBy(childId, schemaVersion);
    if (started) world.queue.repeat(started, { at: world.clock.now() + 100, answered: false });
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"beside":"beside","one":{"out":"out"}}' },
    });
  },
);

test.each(Object.entries(REDEPLOYS))(
  'a started child is waited for although, when its parent is taken over, %s',
  async (_, redeploy) => {
    const { all, world, calls, runId, before, task, started } = await childStarted();
    expect(started?.runId).toBe(childRunId(runId, 'one.1'));
    void drive(before.deps, { runId: started?.runId ?? '' });
    await settle();
    expect(calls.sort()).toEqual(['beside', 'out']);
    before.kill();
    for (const lost of [task, started])
      if (lost) world.queue.repeat(lost, { at: world.clock.now() + 100, answered: false });

    const until = world.clock.now() + HOUR;
    await world.run(() => world.clock.now() >= until, deployed(world, redeploy(all)));
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"beside":"beside","one":{"out":"out"}}' },
    });
    expect(world.db.runs.size).toBe(2);
  },
);
