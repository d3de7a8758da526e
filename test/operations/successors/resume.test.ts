import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven, resultOf, reusedIn, said } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

/** first → second → third. The second fails until it is repaired. Records which bodies ran. */
function chain() {
  const ran: string[] = [];
  const cause = { mended: false };
  const workflow = defineWorkflow({
    type: 'chain',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    steps(step) {
      const first = step('first', ({ input }) => {
        ran.push('first');
        return input.n + 1;
      });
      const second = step('second', { needs: { first } }, ({ first }) => {
        ran.push('second');
        if (!cause.mended) throw new Fatal('broken');
        return first * 10;
      });
      return { third: step('third', { needs: { second, first } }, ({ second, first }) => [first, second]) };
    },
  });
  const world = new World({ workflows: [workflow] });
  return { world, ran, cause };
}

async function failed(of: ReturnType<typeof chain>): Promise<string> {
  const runId = await of.world.start('chain', { n: 1 });
  await of.world.run();
  expect(assertStored(of.world.db, runId).status).toBe('failed');
  return runId;
}

describe('a failed run whose cause is fixed', () => {
  test('is continued at the failed step, and completed steps are not repeated', async () => {
    const scene = chain();
    const { world, ran, cause } = scene;
    const runId = await failed(scene);
    cause.mended = true;
    ran.length = 0;
    const state = await driven(world, 'resume', runId);
    expect(state.status).toBe('completed');
    expect(await resultOf(world, state)).toEqual({ third: [2, 20] });
    expect(ran).toEqual(['second']);
    expect(reusedIn(world, state.id)).toEqual(['first']);
    expect(await world.eventTypes(state.id)).toEqual([
      'run_created',
      'run_claimed',
      'run_started',
      'replay_started',
      'step_reused',
      'replay_finished',
      'run_resumed',
      'step_succeeded',
      'step_succeeded',
      'run_completed',
    ]);
  });

  test('and its successor name each other, and share their lineage', async () => {
    const scene = chain();
    const { world } = scene;
    const runId = await failed(scene);
    const before = await world.store.readEvents(runId, 0, 100);
    const state = await driven(world, 'resume', runId);
    expect(state).toMatchObject({
      source: { runId, mode: 'resume' },
      resumedFrom: runId,
      rootRunId: runId,
      status: 'failed',
    });
    expect(state.effectScopes).toBeUndefined();
    const source = assertStored(world.db, runId);
    expect(source).toMatchObject({ status: 'failed', supersededBy: state.id });
    const after = await world.store.readEvents(runId, 0, 100);
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      type: 'run_superseded',
      initiator: 'user',
      actor: 'u.ann',
      data: { by: state.id },
    });
    const again = await driven(world, 'resume', state.id);
    expect(again).toMatchObject({ resumedFrom: state.id, rootRunId: runId });
    // However many runs are in between, the output stays in the run that created it.
    expect(said(world, again.id, 'step_reused')).toMatchObject([{ stepId: 'first', from: { runId } }]);
  });
});
