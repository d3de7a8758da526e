import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const BODY_MS = 20_000;

/** The functions of a definition that a deployment may replace within its version. */
class Functions {
  isWanted = true;
  listThrows = false;
}

function family(kind: string) {
  const functions = new Functions();
  const calls: string[] = [];
  const slowly = (name: string) => {
    calls.push(name);
    return new Promise<string>((resolve) => {
      world.clock.timer(BODY_MS, () => resolve(name));
    });
  };
  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ out: step('out', () => slowly('out')) }),
  });
  const over = () => {
    if (functions.listThrows) throw new Error('no list');
    return [1, 2];
  };
  const when = () => functions.isWanted;
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => {
      const beside = step('beside', () => slowly('beside'));
      const common = { when, onFailure: 'skip' } as const;
      switch (kind) {
        case 'child':
          return { beside, set: step.child('set', { ...common, workflow: child, over, input: () => ({}) }) };
        case 'map':
          return { beside, set: step.map('set', { ...common, over }, () => slowly('item')) };
        default:
          return {
            beside,
            set: step.flow('set', common, async (flow) => {
              await flow.child('one', child, {});
              return flow.event('told', { key: 'k' });
            }),
          };
      }
    },
  });
  const world: World = new World({ workflows: [child, parent] as readonly Workflow[] });
  return { world, functions, calls };
}

/** A run whose worker dies once its set has begun, and that continues with changed functions. */
async function takenOver(kind: string, change: (functions: Functions) => void) {
  const { world, functions, calls } = family(kind);
  const runId = await world.start('parent');
  const before = mortal(world.deps, 7);
  const begun: { task: ReturnType<typeof world.queue.take> }[] = [];
  for (let task = world.queue.take(); task; task = world.queue.take()) {
    begun.push({ task });
    void drive(before.deps, { runId: task.runId });
    await settle();
  }
  before.kill();
  for (const { task } of begun)
    if (task) world.queue.repeat(task, { at: world.clock.now() + 100, answered: false });
  change(functions);
  return { world, runId, calls };
}

const isSettled = (world: World, runId: string) =>
  isOver(world.stateOf(runId)) || world.clock.now() > Date.UTC(2026, 0, 3);

describe.each(['child', 'map', 'flow'])('a %s that has begun', (kind) => {
  test('continues although its condition has become false', async () => {
    const { world, runId } = await takenOver(kind, (functions) => {
      functions.isWanted = false;
    });
    if (kind === 'flow') {
      await world.run(
        () => world.stateOf(runId).waits.some(({ kind }) => kind === 'event') || isSettled(world, runId),
      );
      expect(world.stateOf(runId).steps.get('set')).toMatchObject({ phase: 'running' });
      return;
    }
    await world.run(() => isSettled(world, runId));
    const results = { child: [{ out: 'out' }, { out: 'out' }], map: ['item', 'item'] };
    const result = { beside: 'beside', set: results[kind as 'child' | 'map'] };
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: JSON.stringify(result) },
    });
  });

  if (kind === 'flow') return;
  test('fails by its policy if its list can no longer be made, and leaves nothing behind', async () => {
    const { world, runId } = await takenOver(kind, (functions) => {
      functions.listThrows = true;
    });
    await world.run(() => isSettled(world, runId));
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"beside":"beside","set":null}' } });
    expect(state.waits).toEqual([]);
    for (const { snapshot } of world.db.runs.values())
      expect(['completed', 'cancelled']).toContain(snapshot.status);
  });
});
