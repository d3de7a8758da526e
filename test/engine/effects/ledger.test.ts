import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { World } from '../../support/world.ts';

function posting(options: OutsideOptions = {}) {
  const outside = new Outside(options);
  const workflow = defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      sent: step(
        'send',
        { uses: [outside.capability], retry: { initialMs: 10, maxAttempts: 3 } },
        ({ perform }) => perform(outside.capability, { text: 'hello' }),
      ),
    }),
  });
  const world = new World({ workflows: [workflow], bindings: [outside.binding] });
  return { outside, world };
}

function rowsOf({ db }: World) {
  return [...db.effects.values()].map(({ record }) => record);
}

describe('a side effect', () => {
  test('is made once, and its answer is recorded', async () => {
    const { outside, world } = posting();
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
    expect(rowsOf(world)).toMatchObject([
      { status: 'recorded', runId: id, stepId: 'send', resultText: '{"id":1}' },
    ]);
    expect(world.stateOf(id).effects).toEqual([]);
    const types = world.db.runs.get(id)?.events.map(({ type }) => type);
    expect(types).toEqual([
      'run_created',
      'run_claimed',
      'run_started',
      'step_started',
      'effect_attempted',
      'effect_settled',
      'step_succeeded',
      'run_completed',
    ]);
  });

  test('that certainly did not take place is repeated, in its own row', async () => {
    const { outside, world } = posting();
    outside.faults.push('refuse');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
    expect(rowsOf(world).map(({ status, n }) => [n, status])).toEqual([
      [1, 'failed'],
      [2, 'recorded'],
    ]);
  });

  test('whose answer was lost is looked up', async () => {
    const { outside, world } = posting({ withLookup: true });
    outside.faults.push('lose_answer');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside).toMatchObject({ calls: 1, lookups: 1 });
    expect(rowsOf(world).map(({ status }) => status)).toEqual(['recorded', 'reused']);
  });

  test('whose answer was lost is repeated under its key at a receiver that acts once per key', async () => {
    const { outside, world } = posting({ idempotency: 'required' });
    outside.faults.push('lose_answer');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.calls).toBe(2);
    expect(outside.applied).toHaveLength(1);
    expect(rowsOf(world)).toMatchObject([{ status: 'recorded', attempt: 2 }]);
  });

  test.each(['recorded', 're-execute', 'failed'] as const)(
    'in doubt waits for a person, who answers %s',
    async (outcome) => {
      const { outside, world } = posting();
      outside.faults.push('lose_answer');
      const id = await world.start('post');
      await world.run();
      const { status, waits } = world.stateOf(id);
      expect(status).toBe('awaiting_approval');
      expect(outside.calls).toBe(1);
      const effectId = waits[0]?.effectId ?? '';
      const deps = { ...world.deps };
      const request = { runId: id, tenantId: 't1', effectId, outcome, actor: 'c.ann' };
      await resolveEffect(deps, outcome === 'recorded' ? { ...request, result: { id: 7 } } : request);
      await world.run();
      const state = world.stateOf(id);
      expect(state.status).toBe(outcome === 'failed' ? 'failed' : 'completed');
      expect(outside.calls).toBe(outcome === 're-execute' ? 2 : 1);
      expect(state.effects).toEqual([]);
    },
  );
});
