import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const doubling = defineWorkflow({
  type: 'doubling',
  planVersion: 1,
  input: z.object({ n: z.number() }),
  steps(step) {
    const wait = step.sleep('pause', { when: ({ input }) => input.n >= 100, for: '1h' });
    const doubled = step('double', { needs: { wait }, ifSkipped: 'run' }, ({ input }) => {
      if (input.n < 0) throw new Fatal('negative');
      return 2 * input.n;
    });
    return { doubled };
  },
});

function parentOf(options: {
  onParentEnd?: 'cancel' | 'abandon' | 'wait';
  timeout?: string;
  type?: string;
  degrade?: boolean;
}) {
  const { type, degrade, ...child } = options;
  return defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    steps(step) {
      const one = step.child<Record<never, never>, { doubled: number }>('one', {
        workflow: type ?? doubling,
        input: ({ input }) => ({ n: input.n }),
        ...child,
        ...(degrade ? { onFailure: { degradeTo: { doubled: 0 } } } : {}),
      });
      const after = step('after', { needs: { one } }, ({ one }) => one.doubled + 1);
      return { after };
    },
  });
}

async function started(parent: Workflow, n: number) {
  const world = new World({ workflows: [doubling, parent] });
  const runId = await world.start('parent', { n });
  return { world, runId, childId: childRunId(runId, 'one.1') };
}

describe('a child', () => {
  test('runs as its own run, and its result is the output of the step', async () => {
    const { world, runId, childId } = await started(parentOf({}), 21);
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"after":43}' }, ties: [] });
    expect(assertStored(world.db, childId)).toMatchObject({
      status: 'completed',
      parent: { runId, stepId: 'one', topRunId: runId },
      rootRunId: childId,
      tenantId: state.tenantId,
    });
    expect(world.db.runs.get(childId)).toMatchObject({ wakeAt: undefined, metadata: { dutiesMet: true } });
  });

  test('that fails names the cause first, however deep, then the runs from there on', async () => {
    const above = (type: string, workflow: Workflow) =>
      defineWorkflow({
        type,
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({ down: step.child('down', { workflow, input: () => ({ n: -1 }) }) }),
      });
    const middle = above('middle', doubling);
    const world = new World({ workflows: [doubling, middle, above('top', middle)] });
    const top = await world.start('top', {});
    await world.run();
    const child = childRunId(top, 'down.1');
    const grandchild = childRunId(child, 'down.1');
    expect(world.stateOf(top).error).toMatchObject({
      code: 'CHILD_FAILED',
      message: `STEP_FAILED: negative, in child run ${grandchild} of child run ${child}`,
    });
  });

  test('that fails fails the step, unless the step says otherwise', async () => {
    const failing = await started(parentOf({}), -1);
    await failing.world.run();
    expect(assertStored(failing.world.db, failing.runId)).toMatchObject({
      status: 'failed',
      error: { code: 'CHILD_FAILED', stepId: 'one', message: expect.stringContaining('negative') },
    });
    const degraded = await started(parentOf({ degrade: true }), -1);
    await degraded.world.run();
    expect(assertStored(degraded.world.db, degraded.runId)).toMatchObject({
      result: { text: '{"after":1}' },
    });
  });

  test.each([
    ['cancel', 'cancelled'],
    ['abandon', 'completed'],
    ['wait', 'cancelled'],
  ] as const)('is treated as declared when its parent is cancelled: %s', async (onParentEnd, status) => {
    const { world, runId, childId } = await started(parentOf({ onParentEnd }), 100);
    await world.run(() => world.db.runs.get(childId)?.snapshot.status === 'waiting_external');
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled' });
    expect(assertStored(world.db, childId)).toMatchObject({ status });
    for (const run of world.db.runs.values()) expect(run.wakeAt).toBeUndefined();
  });

  test.each(['cancel', 'fail', 'time'] as const)(
    'that its parent waits for ends and is undone before the parent, which is to %s',
    async (how) => {
      const order: string[] = [];
      const child = defineWorkflow({
        type: 'kid',
        planVersion: 1,
        input: z.object({}),
        steps(step) {
          const made = step('made', { compensate: () => void order.push('child undone') }, () => 1);
          const night = step.sleep('night', { needs: { made }, for: '8h' });
          return { night };
        },
      });
      const parent = defineWorkflow({
        type: 'parent',
        planVersion: 1,
        input: z.object({}),
        ...(how === 'time' ? { timeout: '1h' } : {}),
        steps(step) {
          const made = step('made', { compensate: () => void order.push('parent undone') }, () => 1);
          const kid = step.child('kid', {
            needs: { made },
            workflow: child,
            input: () => ({}),
            onParentEnd: 'wait',
          });
          const nap = step.sleep('nap', { for: '30m' });
          step('beside', { needs: { nap } }, () => {
            if (how === 'fail') throw new Fatal('no good');
          });
          return { kid };
        },
      });
      const world = new World({ workflows: [child, parent] });
      const runId = await world.start('parent');
      const childId = childRunId(runId, 'kid.1');
      await world.run(() => world.db.runs.get(childId)?.snapshot.status === 'waiting_external');
      if (how === 'cancel') await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
      await world.run();
      const parentState = assertStored(world.db, runId);
      const childState = assertStored(world.db, childId);
      expect(order).toEqual(['child undone', 'parent undone']);
      expect(childState).toMatchObject({ status: 'cancelled', stopKind: 'system' });
      expect(parentState).toMatchObject(
        how === 'cancel'
          ? { status: 'cancelled' }
          : { status: 'failed', error: { code: how === 'time' ? 'RUN_TIMEOUT' : 'STEP_FAILED' } },
      );
      const undone = world.db.runs.get(runId)?.events.find(({ type }) => type === 'compensation_started');
      expect(undone?.at).toBeGreaterThanOrEqual(childState.completedAt ?? Number.POSITIVE_INFINITY);
      expect((await world.eventTypes(runId)).filter((type) => type === 'run_claimed').length).toBeLessThan(8);
      for (const run of world.db.runs.values()) expect(run.wakeAt).toBeUndefined();
    },
  );

  test('that its parent waits for but that was never started does not delay the end', async () => {
    const { world, runId, childId } = await started(parentOf({ onParentEnd: 'wait' }), 100);
    const deps = {
      ...world.deps,
      otherRuns: { ...world.deps.otherRuns, startChild: () => new Promise<never>(() => {}) },
    };
    const first = world.run(() => world.stateOf(runId).waits.length > 0, deps);
    await first;
    world.clock.jump(world.deps.settings.leaseMs + 1_000);
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled' });
    expect(world.db.runs.get(childId)).toBeUndefined();
  });

  test('that takes too long is cancelled, and fails the step', async () => {
    const { world, runId, childId } = await started(parentOf({ timeout: '10m' }), 100);
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'failed',
      error: { code: 'STEP_TIMEOUT' },
    });
    expect(assertStored(world.db, childId)).toMatchObject({ status: 'cancelled' });
  });

  test('whose last drive dies before it notified its parent is reported by the scan', async () => {
    const { world, runId } = await started(parentOf({}), 5);
    let died = false;
    const deps = {
      ...world.deps,
      otherRuns: {
        ...world.deps.otherRuns,
        notifyParent: (state: Parameters<typeof world.deps.otherRuns.notifyParent>[0]) => {
          if (died || state.parent === undefined) return world.deps.otherRuns.notifyParent(state);
          died = true;
          return new Promise<never>(() => {});
        },
      },
    };
    await world.run(() => isDone(world, runId), deps);
    expect(died).toBe(true);
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed' });
    const resolutions = (await world.eventTypes(runId)).filter((type) => type === 'wait_resolved');
    expect(resolutions).toHaveLength(1);
  });
});

test('a set of children has their results in order, and tolerates as many failures as it may', async () => {
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    steps(step) {
      const all = step.child<Record<never, never>, number, { doubled: number }>('all', {
        workflow: doubling,
        over: ({ input }) => Array.from({ length: input.n }, (_, i) => i - 1),
        input: ({ item }) => ({ n: item }),
        completion: { tolerate: 1 },
        concurrency: 4,
      });
      return { all };
    },
  });
  const { world, runId } = await started(parent, 12);
  await world.run();
  const { status, result } = assertStored(world.db, runId);
  expect(status).toBe('completed');
  const { all } = JSON.parse((result as { text: string }).text);
  expect(all).toEqual([null, ...Array.from({ length: 11 }, (_, i) => ({ doubled: 2 * i }))]);
  expect(world.db.runs.size).toBe(13);
  for (const run of world.db.runs.values()) expect(run.wakeAt).toBeUndefined();
});

function isDone(world: World, runId: string): boolean {
  return world.db.runs.get(runId)?.snapshot.status === 'completed';
}
