/** Failures of effects that random faults found (test/programs/effects), each named by the broken claim. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { Binding } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { StepContext } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { driven, succeed } from '../../support/successors.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { eventsOf, hello, installation, rowsOf } from './stage.ts';

const NEVER = new Promise<never>(() => {});

function takeTasks({ queue, clock }: World): void {
  for (const task of queue.due(clock.now())) queue.take(task.id);
}

describe('a body whose call was refused does not succeed', () => {
  test('although it caught the error, when its process was shutting down', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation(async (perform, capability) => {
      await gate.promise;
      try {
        return await perform(capability, { text: 'hello' });
      } catch {
        return 'swallowed';
      }
    });
    const id = await world.start('post');
    takeTasks(world);
    const shutdown = new AbortController();
    const leaving = drive({ ...world.deps, shutdown: shutdown.signal }, { runId: id });
    await settle();
    shutdown.abort();
    gate.resolve();
    await world.run();
    await leaving;
    expect(outside.applied).toHaveLength(1);
    expect(world.stateOf(id).result).toEqual({ text: '{"sent":{"id":1}}' });
  });

  test('although it did not await the call that a cancel refused', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation(async (perform, capability) => {
      await gate.promise;
      perform(capability, { text: 'too late' }).catch(() => {});
      return 'done';
    });
    const id = await world.start('post');
    takeTasks(world);
    void drive(world.deps, { runId: id });
    await settle();
    await cancelRun(world.deps, { runId: id, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
    gate.resolve();
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'cancelled' });
    expect(eventsOf(world, id).some(({ type }) => type === 'step_succeeded')).toBe(false);
    expect(outside.calls).toBe(0);
  });
});

/** A run that was cancelled during a call whose outcome stays unknown. */
async function leftInDoubt(world: World, outside: Outside): Promise<string> {
  outside.faults.push('hang');
  const source = await world.start('post');
  takeTasks(world);
  void drive(world.deps, { runId: source });
  await settle();
  await cancelRun(world.deps, { runId: source, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
  await world.run();
  return source;
}

describe('an effect that the source run left in doubt', () => {
  test('stays in doubt when its repetition was refused, and a replay makes no second call', async () => {
    const { outside, world } = installation((perform, capability) => perform(capability, { text: 'hello' }), {
      idempotency: 'required',
      replayPolicy: 'reexecute',
    });
    const source = await leftInDoubt(world, outside);
    outside.faults.push('refuse');
    const { status } = await driven(world, 'replay', source);
    expect(status).toBe('completed');
    expect(outside.calls).toBe(3);
    expect(outside.applied).toHaveLength(1);
  });

  test('fails a step whose body caught the error of a failed lookup', async () => {
    const outside = new Outside({ withLookup: true });
    let looksFail = 1;
    const binding: Binding = {
      ...outside.binding,
      async lookup(request, options) {
        looksFail -= 1;
        if (looksFail >= 0) throw new Error('nobody can tell now');
        return (await outside.binding.lookup?.(request, options)) ?? { found: false };
      },
    };
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step('send', { uses: [outside.capability], retry: { initialMs: 1 } }, async ({ perform }) => {
          try {
            return await perform(outside.capability, { text: 'hello' });
          } catch {
            return undefined;
          }
        }),
      }),
    });
    const world = new World({ workflows: [workflow], bindings: [binding] });
    const source = await leftInDoubt(world, outside);
    expect(rowsOf(world)).toMatchObject([{ status: 'attempted' }]);
    const { result } = await driven(world, 'resume', source);
    expect(result).toEqual({ text: '{"sent":{"id":1}}' });
    expect(outside.calls).toBe(1);
  });

  test('is resolved once, whichever successor asks about it', async () => {
    const { outside, world } = installation(hello);
    const source = await leftInDoubt(world, outside);
    const one = await succeed(world, 'replay', source);
    const other = await succeed(world, 'replay', source);
    await world.run();
    const effectId = rowsOf(world)[0]?.effectId ?? '';
    const waitingEffects = [one, other].map((id) => world.stateOf(id).waits.map((wait) => wait.effectId));
    expect(waitingEffects).toEqual([[effectId], [effectId]]);
    const said = { tenantId: 't1', effectId, actor: 'c.ann' };
    await resolveEffect(world.deps, { ...said, runId: one, outcome: 'recorded', result: { id: 1 } });
    const against = resolveEffect(world.deps, {
      ...said,
      runId: other,
      outcome: 're-execute',
      actor: 'c.bob',
    });
    await expect(against).rejects.toMatchObject({ code: 'EFFECT_RESOLVED' });
    const alike = { ...said, runId: other, outcome: 'recorded' as const, result: { id: 1 }, actor: 'c.bob' };
    expect(await resolveEffect(world.deps, alike)).toMatchObject({ resolvedBy: 'c.ann' });
    await world.run();
    expect([one, other].map((id) => world.stateOf(id).status)).toEqual(['completed', 'completed']);
    expect(outside.calls).toBe(1);
  });
});

describe('a replay that acts anew', () => {
  test('makes no call besides the one that resolves the doubt of its source', async () => {
    const outside = new Outside({ idempotency: 'required', replayPolicy: 'reexecute' });
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step(
          'send',
          { uses: [outside.capability], retry: { initialMs: 1 } },
          async ({ perform, attempt }) => {
            const sent = await perform(outside.capability, { text: 'hello' });
            if (attempt === 1) throw new Error('after the act');
            return sent;
          },
        ),
      }),
    });
    const world = new World({ workflows: [workflow], bindings: [outside.binding] });
    outside.onCall = () => NEVER;
    const source = await world.start('post');
    takeTasks(world);
    void drive(world.deps, { runId: source });
    await settle();
    await cancelRun(world.deps, { runId: source, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
    await world.run();
    outside.onCall = () => {};
    const { status } = await driven(world, 'replay', source);
    expect(status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
  });

  test('asks first, even where its body does not await the answer', async () => {
    const { outside, world } = installation(
      (perform, capability) => {
        for (const key of ['a', 'b']) perform(capability, { text: 'hello' }, { key }).catch(() => {});
        return 'done';
      },
      { replayPolicy: 'require_human' },
    );
    const source = await world.start('post');
    await world.run();
    const id = await succeed(world, 'replay', source, { from: { step: 'send' } });
    await world.run();
    for (const _ of ['a', 'b']) {
      const { status, waits } = world.stateOf(id);
      expect(status).toBe('awaiting_approval');
      const effectId = waits[0]?.effectId ?? '';
      await resolveEffect(world.deps, {
        runId: id,
        tenantId: 't1',
        effectId,
        outcome: 're-execute',
        actor: 'c.ann',
      });
      await world.run();
    }
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(4);
  });
});

describe('E1: an append acknowledged after another dispatch took over leads to no call', () => {
  test.each(['late', 'lost'] as const)('the acknowledgement came %s', async (how) => {
    const { outside, world } = installation(hello, { withLookup: true });
    const gate = Promise.withResolvers<void>();
    let sendings = 0;
    const store = intercept(world.deps.store, async ({ method, args }, proceed) => {
      if (method === 'touch') return NEVER;
      const isFirst = method === 'commit' && (args[0] as JournalCommit).effects && sendings++ === 0;
      const answer = await proceed();
      if (!isFirst) return answer;
      await gate.promise;
      // The bytes are sent again, and were already applied.
      return how === 'late' ? answer : proceed();
    });
    const id = await world.start('post');
    takeTasks(world);
    void drive({ ...world.deps, store }, { runId: id });
    await settle();
    expect(rowsOf(world)).toMatchObject([{ status: 'attempted' }]);
    await world.run(() => world.stateOf(id).status === 'completed');
    expect(outside.calls).toBe(1);
    gate.resolve();
    await settle();
    await world.run();
    expect(outside.calls).toBe(1);
    expect(outside.applied).toHaveLength(1);
  });
});

type Undo = (context: Pick<StepContext<unknown>, 'perform'>, outside: Outside) => Promise<unknown>;

function undoing(undo: Undo, options: OutsideOptions = {}) {
  const outside = new Outside(options);
  const uses = [outside.capability];
  const workflow = defineWorkflow({
    type: 'undo',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const compensate = async (context: Pick<StepContext<unknown>, 'perform'>) =>
        void (await undo(context, outside));
      const retry = { maxAttempts: 2, initialMs: 10 };
      const done = step('do', { uses, compensate, retry, timeout: '5s' }, () => 1);
      const broken = step('break', { needs: { done } }, () => {
        throw new Fatal('broken');
      });
      return { broken };
    },
  });
  return { outside, world: new World({ workflows: [workflow], bindings: [outside.binding] }) };
}

describe('a compensation', () => {
  test('in doubt fails although its body caught the error', async () => {
    const { outside, world } = undoing(async ({ perform }, { capability }) => {
      await perform(capability, { text: 'undo' }).catch(() => {});
    });
    outside.faults.push('lose_answer');
    const id = await world.start('undo');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'failed', compensationLog: [{ outcome: 'failed' }] });
    expect(outside.calls).toBe(1);
  });

  test('whose call never answers and ignores its signal does not delay the end of the run', async () => {
    const { outside, world } = undoing(({ perform }, { capability }) =>
      perform(capability, { text: 'undo' }),
    );
    outside.onCall = () => NEVER;
    const id = await world.start('undo');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'failed', compensationLog: [{ outcome: 'failed' }] });
  });

  test('that answers after the end of the run adds nothing to its journal', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = undoing(({ perform }, { capability }) =>
      perform(capability, { text: 'undo' }),
    );
    outside.onCall = () => gate.promise;
    const id = await world.start('undo');
    await world.run();
    const types = eventsOf(world, id).map(({ type }) => type);
    expect(types.at(-1)).toBe('run_failed');
    gate.resolve();
    await settle();
    await world.run();
    expect(eventsOf(world, id).map(({ type }) => type)).toEqual(types);
  });
});
