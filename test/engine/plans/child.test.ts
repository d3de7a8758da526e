import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { LONGEST_CHECK_MS } from '../../../packages/cairn/src/core/run/wake.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { KnownPlans } from '../../../packages/cairn/src/engine/plans/known-plans.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const BODY_MS = 20_000;
const DAY_MS = 24 * 3_600_000;

const child = (last: string) =>
  defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ out: step(last, () => last) }),
  });

/** A parent with other work than its child: a body that takes a while, and a question. */
function family(
  more: { readonly timeout?: string; readonly onParentEnd?: 'cancel' | 'wait' | 'abandon' } = {},
) {
  const calls: string[] = [];
  const slowly = (name: string) => () => {
    calls.push(name);
    return new Promise<string>((resolve) => {
      world.clock.timer(BODY_MS, () => resolve(name));
    });
  };
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const beside = step('beside', slowly('beside'));
      const agreed = step.approval('agree', { ask: () => 'Go on?' });
      const after = step('after', { needs: { agreed } }, slowly('after'));
      const one = step.child('one', { workflow: 'child', input: () => ({}), onFailure: 'skip', ...more });
      return { beside, after, one };
    },
  });
  const world: World = new World({ workflows: [child('ship'), parent] });
  return { world, parent, calls };
}

/** The dependencies of a process that was deployed with these workflows. */
function deployed(world: World, workflows: readonly Workflow[]) {
  const plans = new KnownPlans({ ...world.deps, store: world.planStore });
  const deps = { ...world.deps, registry: new WorkflowRegistry(workflows), plans };
  return { ...deps, otherRuns: otherRuns({ ...deps, records: world.records }) };
}

const DEPLOYMENTS = {
  'was changed': { of: (parent: Workflow) => [child('mail'), parent], code: 'PLAN_CHANGED' },
  'was left out': { of: (parent: Workflow) => [parent], code: 'PLAN_VERSION_UNAVAILABLE' },
};

test.each(Object.entries(DEPLOYMENTS))(
  'a child whose workflow %s is retried rarely, beside all other work, and started when the definition is back',
  async (_, { of, code }) => {
    const { world, parent, calls } = family();
    await world.start('child');
    const runId = await world.start('parent');
    const lacking = deployed(world, of(parent));
    const answerAt = world.clock.now() + DAY_MS / 2;
    await world.run(() => world.clock.now() >= answerAt, lacking);
    expect(calls).toEqual(['beside']);
    const waitId = (await world.folded(runId)).waits.find(({ kind }) => kind === 'approval')?.id;
    const decision = { decision: 'approve', stepId: 'agree', waitId, actor: 'ann' } as const;
    await decideApproval(lacking, { runId, tenantId: 't1', ...decision });
    const until = world.clock.now() + DAY_MS / 2;
    await world.run(() => world.clock.now() >= until, lacking);
    const { status, failures, head } = await world.folded(runId);
    expect([status, failures?.error.code, failures?.error.stepId]).toEqual(['running', code, 'one']);
    expect(calls).toEqual(['beside', 'after']);
    expect(world.db.runs.has(childRunId(runId, 'one.1'))).toBe(false);
    // Each check costs at most three events, and two checks are at least half the bound apart.
    expect(head).toBeLessThan(3 * (DAY_MS / (LONGEST_CHECK_MS / 2)));

    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"after":"after","beside":"beside","one":{"out":"ship"}}' },
    });
    expect(calls).toEqual(['beside', 'after']);
  },
);

test('a child whose workflow stays left out fails its step at its timeout', async () => {
  const { world, parent } = family({ timeout: '3h' });
  const runId = await world.start('parent');
  const lacking = deployed(world, [parent]);
  const dueAt = world.clock.now() + DAY_MS / 8;
  await world.run(() => world.clock.now() >= dueAt - 60_000, lacking);
  expect((await world.folded(runId)).steps.get('one')?.phase).not.toBe('done');
  await world.run(() => world.clock.now() >= dueAt + 60_000, lacking);
  const { steps, failures } = await world.folded(runId);
  expect(steps.get('one')).toMatchObject({ phase: 'done', outcome: 'skipped' });
  expect(failures).toBeUndefined();
});

test('an answer is processed at once while the start of a child is deferred', async () => {
  const { world, parent, calls } = family();
  const runId = await world.start('parent');
  const lacking = deployed(world, [parent]);
  const isPutOff = () => (world.stateOf(runId).dueAt ?? 0) > world.clock.now() + LONGEST_CHECK_MS / 4;
  await world.run(isPutOff, lacking);
  const { waits, dueAt = 0 } = await world.folded(runId);
  expect(isPutOff()).toBe(true);
  const waitId = waits.find(({ kind }) => kind === 'approval')?.id;
  const decision = { decision: 'approve', stepId: 'agree', waitId, actor: 'ann' } as const;
  await decideApproval(lacking, { runId, tenantId: 't1', ...decision });
  await world.run(() => calls.includes('after') || world.clock.now() >= dueAt, lacking);
  expect(calls).toEqual(['beside', 'after']);
  expect(world.clock.now()).toBeLessThan(dueAt);
});

test.each(['cancel', 'wait', 'abandon'] as const)(
  'a parent is cancelled while the start of its child is deferred (onParentEnd: %s)',
  async (onParentEnd) => {
    const { world, parent } = family({ onParentEnd });
    const runId = await world.start('parent');
    const lacking = deployed(world, [parent]);
    await world.run(
      () => (world.stateOf(runId).dueAt ?? 0) > world.clock.now() + LONGEST_CHECK_MS / 4,
      lacking,
    );
    const { dueAt = 0 } = await world.folded(runId);
    await cancelRun(lacking, { runId, tenantId: 't1', actor: 'ann', stopKind: 'user' });
    await world.run(() => world.clock.now() >= dueAt, lacking);
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled', waits: [] });
    expect((await world.folded(runId)).completedAt).toBeLessThan(dueAt);
    // The definition is back: nothing starts a child without its parent.
    await world.run();
    expect(world.db.runs.has(childRunId(runId, 'one.1'))).toBe(false);
  },
);
