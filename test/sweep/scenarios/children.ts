/** Children: one, a set, one that fails, and one whose parent is cancelled, fails, times out, or abandons it. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { ChildOptions, Needs } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { cancels } from './operations.ts';

const input = z.object({});
const one = z.object({ n: z.number() });
type Options = Partial<ChildOptions<Record<never, never>, Needs, unknown>>;

/** Time for children that must still be running when the parent has been recovered. Their heartbeats are rarer. */
const LONG_MS = 360_000;
const PATIENT = { heartbeatMs: 30_000, flushMs: 30_000, leaseMs: 70_000, pollMs: 30_000 };

const doubling = (stage: Stage, ms = 200) =>
  defineWorkflow({
    type: 'doubling',
    planVersion: 1,
    input: one,
    steps(step) {
      const doubled = step('double', { timeout: '390s' }, async ({ input, ...c }) => {
        await stage.acts(c, ms);
        if (input.n < 0) throw new Fatal('below zero');
        return 2 * input.n;
      });
      return { doubled };
    },
  });

const parent = (stage: Stage, n: number, options: Options = {}) =>
  defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', async (c) => {
        await stage.acts(c);
        return n;
      });
      const kid = step.child('kid', {
        ...(options as object),
        needs: { before },
        workflow: 'doubling',
        input: ({ before }) => ({ n: before }),
      });
      const after = step('after', { needs: { kid } }, async ({ kid, ...c }) => {
        await stage.acts(c);
        return kid;
      });
      return { after };
    },
  });

const family = (stage: Stage, completion?: { readonly tolerate: number }) =>
  defineWorkflow({
    type: 'family',
    planVersion: 1,
    input,
    steps(step) {
      const kids = step.child('kids', {
        workflow: 'doubling',
        over: () => [1, 2, -3, 4].filter((n) => n > 0 || completion !== undefined),
        input: ({ item }) => ({ n: item }),
        concurrency: 2,
        ...(completion === undefined ? {} : { completion }),
      });
      const after = step('after', { needs: { kids } }, async ({ kids, ...c }) => {
        await stage.acts(c);
        return kids;
      });
      return { after };
    },
  });

const grandparent = (stage: Stage) =>
  defineWorkflow({
    type: 'grandparent',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', async (c) => {
        await stage.acts(c);
        return null;
      });
      return { line: step.child('line', { needs: { before }, workflow: 'parent', input: () => ({}) }) };
    },
  });

const failingBesideChild = (stage: Stage) =>
  defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input,
    steps(step) {
      const kid = step.child('kid', { workflow: 'doubling', input: () => ({ n: 1 }) });
      const pause = step.sleep('pause', { for: '4m' });
      const broken = step('broken', { needs: { pause } }, async (c) => {
        await stage.acts(c);
        throw new Fatal('no use');
      });
      return { kid, broken };
    },
  });

export const childScenarios: readonly Scenario[] = [
  {
    name: 'child',
    workflows: (stage) => [parent(stage, 21), doubling(stage)],
    start: { type: 'parent' },
    ends: { others: ['doubling: completed'], status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    name: 'children',
    workflows: (stage) => [family(stage), doubling(stage)],
    start: { type: 'family' },
    ends: { others: Array(3).fill('doubling: completed'), status: 'completed' },
  },
  {
    name: 'children-tolerating-failures',
    workflows: (stage) => [family(stage, { tolerate: 1 }), doubling(stage)],
    start: { type: 'family' },
    ends: {
      others: [...Array(3).fill('doubling: completed'), 'doubling: failed'],
      status: 'completed',
      shows: ['run_failed'],
    },
  },
  {
    name: 'child-failing',
    workflows: (stage) => [parent(stage, -1), doubling(stage)],
    start: { type: 'parent' },
    ends: { others: ['doubling: failed'], status: 'failed', errorCode: 'CHILD_FAILED' },
  },
  {
    name: 'child-of-cancelled-parent',
    settings: PATIENT,
    workflows: (stage) => [parent(stage, 1), doubling(stage, LONG_MS)],
    start: { type: 'parent' },
    operations: [cancels((view) => view.waitsAt('kid') && view.isRunning('double'))],
    ends: { others: ['doubling: cancelled'], status: 'cancelled', shows: ['run_cancelled'] },
  },
  {
    name: 'grandchild',
    workflows: (stage) => [grandparent(stage), parent(stage, 4), doubling(stage)],
    start: { type: 'grandparent' },
    ends: {
      others: ['doubling: completed', 'parent: completed'],
      status: 'completed',
      shows: ['wait_resolved'],
    },
  },
  {
    name: 'grandchild-of-cancelled',
    settings: PATIENT,
    workflows: (stage) => [grandparent(stage), parent(stage, 1), doubling(stage, LONG_MS)],
    start: { type: 'grandparent' },
    operations: [cancels((view) => view.waitsAt('line') && view.isRunning('double'))],
    ends: {
      others: ['doubling: cancelled', 'parent: cancelled'],
      status: 'cancelled',
      shows: ['run_cancelled'],
    },
  },
  {
    name: 'child-of-failed-parent',
    settings: PATIENT,
    workflows: (stage) => [failingBesideChild(stage), doubling(stage, LONG_MS)],
    start: { type: 'parent' },
    ends: {
      others: ['doubling: cancelled'],
      status: 'failed',
      errorCode: 'STEP_FAILED',
      shows: ['run_cancelled'],
    },
  },
  {
    name: 'child-let-go',
    settings: PATIENT,
    workflows: (stage) => [parent(stage, 1, { onParentEnd: 'abandon' }), doubling(stage, LONG_MS / 2)],
    start: { type: 'parent' },
    operations: [cancels((view) => view.waitsAt('kid') && view.isRunning('double'))],
    ends: { others: ['doubling: completed'], status: 'cancelled', shows: ['run_completed'] },
  },
  {
    name: 'child-waited-out',
    settings: PATIENT,
    workflows: (stage) => [undoneParent(stage), undoneChild(stage)],
    start: { type: 'parent' },
    operations: [cancels((view) => view.waitsAt('kid') && view.isRunning('slow'))],
    ends: {
      others: ['child: cancelled'],
      status: 'cancelled',
      errorCode: 'CHILD_CANCELLED',
      shows: ['step_compensated', 'wait_resolved', 'run_cancelled'],
    },
  },
  {
    name: 'child-waited-out-of-failed-parent',
    settings: PATIENT,
    workflows: (stage) => [undoneParent(stage, 'fails'), undoneChild(stage)],
    start: { type: 'parent' },
    ends: {
      others: ['child: cancelled'],
      status: 'failed',
      errorCode: 'STEP_FAILED',
      shows: ['step_compensated', 'wait_resolved', 'run_cancelled'],
    },
  },
  {
    name: 'child-too-slow',
    workflows: (stage) => [parent(stage, 1, { timeout: '1h' }), sleepy()],
    start: { type: 'parent' },
    ends: {
      others: ['doubling: cancelled'],
      status: 'failed',
      errorCode: 'STEP_TIMEOUT',
      shows: ['wait_expired', 'run_cancelled'],
    },
  },
];

const undoneChild = (stage: Stage) =>
  defineWorkflow({
    type: 'child',
    planVersion: 1,
    input,
    steps(step) {
      const kept = step('kept', { compensate: (c) => stage.undoes(c) }, async (c) => {
        await stage.acts(c);
        return 1;
      });
      const slow = step('slow', { needs: { kept }, timeout: '390s' }, async (c) => {
        await stage.acts(c, LONG_MS);
        return 2;
      });
      return { slow };
    },
  });

const undoneParent = (stage: Stage, fails?: 'fails') =>
  defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', { compensate: (c) => stage.undoes(c) }, async (c) => {
        await stage.acts(c);
        return 1;
      });
      const kid = step.child('kid', {
        needs: { before },
        workflow: 'child',
        input: () => ({}),
        onParentEnd: 'wait',
      });
      if (fails) {
        step('beside', { needs: { before }, timeout: '390s' }, async (c) => {
          await stage.acts(c, LONG_MS / 4);
          throw new Fatal('no good');
        });
      }
      return { kid };
    },
  });

/** A definition of the same name that sleeps for much longer than its parent waits. */
function sleepy() {
  return defineWorkflow({
    type: 'doubling',
    planVersion: 1,
    input: one,
    steps: (step) => ({ night: step.sleep('night', { for: '8h' }) }),
  });
}
