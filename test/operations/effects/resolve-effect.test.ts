import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import type { ResolveRequest } from '../../../packages/cairn/src/operations/effects/resolution.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { resumeRun } from '../../../packages/cairn/src/operations/successors/resume-run.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { depsOf } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

/** A run that asks about the outcome of its effect. */
class Doubt {
  readonly outside: Outside;
  readonly world: World;
  runId = '';

  constructor(options: OutsideOptions = {}) {
    const outside = new Outside(options);
    this.outside = outside;
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const sent = step('send', { uses: [outside.capability], retry: { initialMs: 10 } }, ({ perform }) =>
          perform(outside.capability, { text: 'hello' }),
        );
        return { id: step('read', { needs: { sent } }, ({ sent }) => sent.id) };
      },
    });
    this.world = new World({ workflows: [workflow], bindings: [outside.binding] });
  }

  static async asked(options: OutsideOptions = {}): Promise<Doubt> {
    const doubt = new Doubt(options);
    doubt.outside.faults.push('lose_answer');
    doubt.runId = await doubt.world.start('post');
    await doubt.untilAsked();
    return doubt;
  }

  /** Advances until a question is open or the run has ended: a waiting run would keep the loop busy forever. */
  untilAsked(): Promise<void> {
    return this.world.run(() => this.world.db.runs.get(this.runId)?.snapshot.status === 'awaiting_approval');
  }

  get effectId(): string {
    return this.world.stateOf(this.runId).waits[0]?.effectId ?? 'none';
  }

  resolve(said: Partial<ResolveRequest>) {
    const { runId } = this;
    const [first] = [...this.world.db.effects.keys()];
    const request = {
      runId,
      tenantId: 't1',
      effectId: first ?? '',
      outcome: 'recorded' as const,
      actor: 'c.ann',
    };
    return resolveEffect(this.world.deps, { ...request, ...said });
  }
}

describe('an effect in doubt', () => {
  test('is shown with everything that is recorded about it', async () => {
    const { world, runId, effectId } = await Doubt.asked();
    const [wait] = world.stateOf(runId).waits;
    expect(wait).toMatchObject({ kind: 'approval', purpose: 'effect', effectId });
    expect(JSON.parse(wait?.detailText ?? '')).toMatchObject({
      effectId,
      question: expect.stringContaining('post.send'),
    });
    expect(world.db.effects.get(effectId)?.record).toMatchObject({
      status: 'blocked',
      blockedBy: 'doubt',
      requestText: '{"text":"hello"}',
    });
  });

  test('gives the step the output that a person records, without a call', async () => {
    const doubt = await Doubt.asked();
    const resolved = await doubt.resolve({ result: { id: 41 } });
    expect(resolved).toMatchObject({ outcome: 'recorded', resolvedBy: 'c.ann' });
    await doubt.world.run();
    expect(doubt.world.stateOf(doubt.runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"id":41}' },
    });
    expect(doubt.outside.calls).toBe(1);
  });

  test('is called once more if a person allows it, and asks again if that call is in doubt too', async () => {
    const doubt = await Doubt.asked();
    doubt.outside.faults.push('lose_answer');
    await doubt.resolve({ outcome: 're-execute' });
    await doubt.untilAsked();
    expect(doubt.outside.calls).toBe(2);
    expect(doubt.effectId).toMatch(/\.0002$/);
  });

  test('fails the step if a person resolves it as failed', async () => {
    const doubt = await Doubt.asked();
    await doubt.resolve({ outcome: 'failed', note: 'the parcel came back' });
    await doubt.world.run();
    const { status, error } = doubt.world.stateOf(doubt.runId);
    expect({ status, error }).toMatchObject({
      status: 'failed',
      error: { code: 'EFFECT_IN_DOUBT', message: expect.stringContaining('the parcel came back') },
    });
  });

  test('is resolved once by two people who disagree at the same moment', async () => {
    for (let round = 0; round < 4; round += 1) {
      const doubt = await Doubt.asked();
      const results = await Promise.allSettled([
        doubt.resolve({ outcome: 'failed', actor: 'c.bob' }),
        doubt.resolve({ result: { id: 1 }, actor: 'c.ann' }),
      ]);
      const won = results.filter(({ status }) => status === 'fulfilled');
      expect(won).toHaveLength(1);
      const lost = results.find((result) => result.status === 'rejected');
      expect(lost?.reason).toMatchObject({
        code: 'EFFECT_RESOLVED',
        details: { outcome: expect.any(String), resolvedBy: expect.any(String) },
      });
      await doubt.world.run();
      const { status } = doubt.world.stateOf(doubt.runId);
      const [winner] = won as PromiseFulfilledResult<{ outcome: string }>[];
      expect(status).toBe(winner?.value.outcome === 'failed' ? 'failed' : 'completed');
    }
  });

  test('repeats its answer for the same resolution', async () => {
    const doubt = await Doubt.asked();
    const first = await doubt.resolve({ result: { id: 1 } });
    const again = await doubt.resolve({ result: { id: 1 }, actor: 'c.bob' });
    expect(again).toEqual(first);
    expect(await doubt.resolve({ actor: 'c.bob' })).toEqual(first);
  });

  test('refuses another result, although that is also a valid resolution', async () => {
    const doubt = await Doubt.asked();
    await doubt.resolve({ result: { id: 1 } });
    await expect(doubt.resolve({ result: { id: 2 } })).rejects.toMatchObject({
      code: 'EFFECT_RESOLVED',
      message: expect.stringContaining('with a different result'),
    });
  });
});

test('a resume of the run names the command that resolves the effect', async () => {
  const doubt = await Doubt.asked();
  const { world, runId, effectId } = doubt;
  await expect(resumeRun(depsOf(world), { runId, tenantId: 't1', actor: 'u.ann' })).rejects.toMatchObject({
    code: 'RUN_INVALID_TRANSITION',
    help: expect.stringContaining(`/effects/${effectId}/resolve`),
  });
});

describe('a resolution is refused, and nothing written,', () => {
  test.each([
    ['of an effect the run does not have', { effectId: `${'a'.repeat(64)}.0001` }, 'NOT_FOUND'],
    ['by another tenant', { tenantId: 't2' }, 'RUN_NOT_FOUND'],
    ["with a result that the capability's schema refuses", { result: { id: 'x' } }, 'INVALID_INPUT'],
    [
      'with a result for a call that is repeated',
      { outcome: 're-execute', result: { id: 1 } },
      'INVALID_INPUT',
    ],
    ['with an empty note', { outcome: 'failed', note: ' ' }, 'INVALID_INPUT'],
  ] as const)('%s', async (_, expected, code) => {
    const doubt = await Doubt.asked();
    const before = doubt.world.stateOf(doubt.runId).head;
    await expect(doubt.resolve(expected)).rejects.toMatchObject({ code });
    expect(doubt.world.stateOf(doubt.runId).head).toBe(before);
    expect(doubt.world.db.effects.get(doubt.effectId)?.record.status).toBe('blocked');
  });

  test('that settles a recorded effect', async () => {
    const doubt = new Doubt();
    doubt.runId = await doubt.world.start('post');
    await doubt.world.run();
    await expect(doubt.resolve({ result: { id: 1 } })).rejects.toMatchObject({ code: 'EFFECT_RESOLVED' });
  });

  test('that repeats the call of an ended run', async () => {
    const doubt = await Doubt.asked();
    await cancelRun(doubt.world.deps, {
      runId: doubt.runId,
      tenantId: 't1',
      actor: 'c.ann',
      stopKind: 'user',
    });
    await doubt.world.run();
    await expect(doubt.resolve({ outcome: 're-execute' })).rejects.toMatchObject({
      code: 'RUN_TERMINAL_STATE',
    });
    expect(doubt.world.db.effects.values().next().value?.record.resolution).toBeUndefined();
  });
});

describe('effect ids', () => {
  test('of map items and of children are distinct', async () => {
    const outside = new Outside();
    const child = defineWorkflow({
      type: 'child',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step('send', { uses: [outside.capability] }, ({ perform }) =>
          perform(outside.capability, { text: 'same' }),
        ),
      }),
    });
    const parent = defineWorkflow({
      type: 'parent',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const items = step.map(
          'items',
          { over: () => [1, 2, 3], uses: [outside.capability] },
          ({ perform }) => perform(outside.capability, { text: 'same' }),
        );
        const children = step.child('children', {
          over: () => [1, 2, 3],
          workflow: child,
          input: () => ({}),
        });
        return { items, children };
      },
    });
    const world = new World({ workflows: [parent, child], bindings: [outside.binding] });
    const id = await world.start('parent');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(6);
    expect(new Set(outside.applied.map(({ key }) => key)).size).toBe(6);
  });
});
