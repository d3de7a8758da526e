/** Rules E1 to E7 of ARCHITECTURE.md, each as a claim that fails when the rule is broken in the code. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { effectIdOf } from '../../../packages/cairn/src/core/effects/effect.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside } from '../../support/outside.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

import { crashAtCall, eventsOf, hello, installation, RETRY, rowsOf } from './stage.ts';

describe('E1: the row and its event are one commit, acknowledged before the binding is called', () => {
  test('both are durable when the binding is called', async () => {
    const { outside, world } = installation(hello);
    const id = await world.start('post');
    let seen: unknown;
    outside.onCall = (key) => {
      const row = world.db.effects.get(effectIdOf(key, 1))?.record;
      const event = eventsOf(world, id).find(({ type }) => type === 'effect_attempted');
      seen = { status: row?.status, effectId: (event?.data as { effectId?: string } | undefined)?.effectId };
    };
    await world.run();
    expect(seen).toEqual({ status: 'attempted', effectId: rowsOf(world)[0]?.effectId });
  });

  test('nothing is called before the commit was acknowledged', async () => {
    const { outside, world } = installation(hello);
    const commits: JournalCommit[] = [];
    let acknowledge = () => {};
    const held = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    const store = intercept(world.deps.store, async ({ method, args }, proceed) => {
      const answer = await proceed();
      if (method !== 'commit' || !(args[0] as JournalCommit).effects) return answer;
      commits.push(args[0] as JournalCommit);
      await held;
      return answer;
    });
    const id = await world.start('post');
    void drive({ ...world.deps, store }, { runId: id });
    await settle();
    expect(commits).toHaveLength(1);
    expect(outside.calls).toBe(0);
    acknowledge();
    await settle();
    expect(outside.calls).toBe(1);
  });

  test('a zombie with an old epoch calls nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation(async (perform, capability, attempt) => {
      if (attempt === 1) await gate.promise;
      return perform(capability, { text: `of attempt ${attempt}` });
    });
    const id = await world.start('post');
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    // Its heartbeats no longer arrive, but the process lives.
    const cut = intercept(world.deps.store, ({ method }, proceed) =>
      method === 'touch' ? new Promise(() => {}) : proceed(),
    );
    void drive({ ...world.deps, store: cut }, { runId: id });
    await settle();
    await world.run(() => world.stateOf(id).status === 'completed');
    expect(outside.applied.map(({ text }) => text)).toEqual(['of attempt 2']);
    gate.resolve();
    await settle();
    expect(outside.calls).toBe(1);
    expect(rowsOf(world)).toHaveLength(1);
  });
});

describe('E1: an unwanted call is not begun', () => {
  test('in a cancelled run whose drive has not noticed the cancel', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation(async (perform, capability) => {
      await gate.promise;
      return perform(capability, { text: 'too late' });
    });
    const id = await world.start('post');
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    void drive(world.deps, { runId: id });
    await settle();
    await cancelRun(world.deps, { runId: id, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
    gate.resolve();
    await settle();
    expect(outside.calls).toBe(0);
    await world.run();
    expect(world.stateOf(id).status).toBe('cancelled');
    expect(rowsOf(world)).toEqual([]);
  });
});

describe('E2: the result of a call is written as soon as it is known', () => {
  test('for an answer and for a definite refusal', async () => {
    const { outside, world } = installation(hello);
    outside.faults.push('refuse');
    await world.start('post');
    await world.run();
    expect(rowsOf(world)).toMatchObject([
      { status: 'failed', error: 'come back later' },
      { status: 'recorded', resultText: '{"id":1}' },
    ]);
  });

  test('before the body continues', async () => {
    const { world } = installation(async (perform, capability) => {
      await perform(capability, { text: 'hello' });
      return rowsOf(world).map(({ status }) => status);
    });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).result).toEqual({ text: '{"sent":["recorded"]}' });
  });

  test('a step does not succeed while its effect is in doubt, even if its body caught the error', async () => {
    const { outside, world } = installation(async (perform, capability) => {
      try {
        return await perform(capability, { text: 'hello' });
      } catch {
        return 'swallowed';
      }
    });
    outside.faults.push('lose_answer');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'awaiting_approval', waits: [{ purpose: 'effect' }] });
    expect(eventsOf(world, id).some(({ type }) => type === 'step_succeeded')).toBe(false);
  });

  test('a step does not succeed while a call that its body does not await is under way', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation((perform, capability) => {
      void perform(capability, { text: 'hello' });
      return 'done';
    });
    outside.onCall = () => gate.promise;
    const id = await world.start('post');
    void world.run(() => outside.calls > 0);
    await settle();
    expect(world.stateOf(id).steps.get('send')?.phase).toBe('running');
    gate.resolve();
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(rowsOf(world)).toMatchObject([{ status: 'recorded' }]);
  });

  test('a call that is under way when the run is cancelled may still answer', async () => {
    const gate = Promise.withResolvers<void>();
    const { outside, world } = installation(hello);
    outside.onCall = () => gate.promise;
    const id = await world.start('post');
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    void drive(world.deps, { runId: id });
    await settle();
    await cancelRun(world.deps, { runId: id, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
    await world.run(() => world.clock.now() > world.stateOf(id).updatedAt + 5_000);
    gate.resolve();
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'cancelled', effects: [] });
    expect(rowsOf(world)).toMatchObject([{ status: 'recorded' }]);
  });

  test("a late answer is kept as evidence and does not change a person's resolution", async () => {
    const { outside, world } = installation(hello);
    const gate = Promise.withResolvers<void>();
    outside.onCall = () => gate.promise;
    const id = await world.start('post');
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    // From now on, the drive can only receive the answer.
    let cut = false;
    const store = intercept(world.deps.store, (_, proceed) => (cut ? new Promise(() => {}) : proceed()));
    void drive({ ...world.deps, store }, { runId: id });
    await settle();
    cut = true;
    outside.onCall = () => {};
    await world.run(() => world.stateOf(id).status === 'awaiting_approval');
    const effectId = world.stateOf(id).waits[0]?.effectId ?? '';
    const said = { runId: id, tenantId: 't1', effectId, outcome: 'recorded' as const, actor: 'c.ann' };
    await resolveEffect(world.deps, { ...said, result: { id: 7 } });
    gate.resolve();
    await settle();
    await world.run();
    expect(world.db.effects.get(effectId)?.record).toMatchObject({
      status: 'recorded',
      resultText: '{"id":7}',
      lateAnswer: { responseHash: expect.any(String) },
    });
    expect(world.stateOf(id).result).toEqual({ text: '{"sent":{"id":7}}' });
  });
});

describe('E3: only a recorded answer is reused, by a row that refers to it', () => {
  test('after a crash between the answer and the end of the step', async () => {
    const { outside, world } = installation(async (perform, capability, attempt) => {
      const sent = await perform(capability, { text: 'hello' });
      if (attempt === 1) throw new Error('after the act');
      return sent;
    });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.calls).toBe(1);
    const [origin, reused] = rowsOf(world);
    expect(origin).toMatchObject({ status: 'recorded', attempt: 1 });
    expect(reused).toMatchObject({ status: 'reused', attempt: 2, originEffectId: origin?.effectId });
  });

  test('a failed row answers nothing', async () => {
    const { outside, world } = installation(hello);
    outside.faults.push('refuse', 'refuse');
    const id = await world.start('post');
    await world.run();
    expect(outside.calls).toBe(3);
    expect(world.stateOf(id).status).toBe('completed');
  });
});

describe('E4: one key has one request', () => {
  test('a different request in a later attempt is refused, in a row', async () => {
    const { outside, world } = installation(async (perform, capability, attempt) => {
      await perform(capability, { text: `attempt ${attempt}` });
      throw new Error('after the act');
    });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'failed', error: { code: 'EFFECT_REQUEST_MISMATCH' } });
    expect(outside.calls).toBe(1);
    expect(rowsOf(world).map(({ status, blockedBy }) => [status, blockedBy])).toEqual([
      ['recorded', undefined],
      ['blocked', 'mismatch'],
    ]);
  });

  test('a different request in the same attempt is refused at once', async () => {
    const { outside, world } = installation(async (perform, capability) => {
      await perform(capability, { text: 'one' }, { key: 'k' });
      return perform(capability, { text: 'two' }, { key: 'k' });
    });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).error?.code).toBe('EFFECT_REQUEST_MISMATCH');
    expect(outside.calls).toBe(1);
  });
});

describe('E5: an effect in doubt is resolved', () => {
  test.each([
    ['by a lookup, if the binding has one', { withLookup: true }, { calls: 1, lookups: 1 }, 'completed'],
    [
      'by the same call, if the receiver acts once per key',
      { idempotency: 'required' },
      { calls: 2, lookups: 0 },
      'completed',
    ],
    [
      'by a person, if nothing else helps',
      { idempotency: 'not_supported' },
      { calls: 1, lookups: 0 },
      'awaiting_approval',
    ],
    [
      'by a person, if the receiver may ignore keys',
      { idempotency: 'optional' },
      { calls: 1, lookups: 0 },
      'awaiting_approval',
    ],
  ] as const)('%s, after a crash', async (_, options, counted, status) => {
    const { outside, world } = installation(hello, options);
    const id = await crashAtCall(world, outside, 'after');
    await world.run();
    expect(world.stateOf(id).status).toBe(status);
    expect(outside).toMatchObject(counted);
    expect(outside.applied).toHaveLength(1);
  });

  test('by a lookup that finds nothing, after which the call is made again', async () => {
    const { outside, world } = installation(hello, { withLookup: true });
    const id = await crashAtCall(world, outside, 'before');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
    expect(rowsOf(world)).toMatchObject([
      { status: 'failed', resolution: { outcome: 'failed', by: 'lookup of post.send.pretended' } },
      { status: 'recorded' },
    ]);
  });

  test('by a question when the attempts of the step are used up, instead of a failure', async () => {
    const { outside, world } = installation(hello, { idempotency: 'required' });
    outside.faults.push('fail_before', 'fail_before', 'fail_before');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({ status: 'awaiting_approval', waits: [{ purpose: 'effect' }] });
  });

  test.each([
    ['for now', 'refuse'],
    ['for good', 'refuse_for_good'],
  ] as const)('a repetition refused %s does not decide the first call', async (_, refusal) => {
    const { outside, world } = installation(hello, { idempotency: 'required' });
    outside.faults.push('lose_answer', refusal);
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.calls).toBe(3);
    expect(rowsOf(world).map(({ status }) => status)).toEqual(['recorded']);
    expect(outside.applied).toHaveLength(1);
  });

  test('by a person when repetitions are refused, not by the last refusal', async () => {
    const { outside, world } = installation(hello, { idempotency: 'required' });
    outside.faults.push('lose_answer', 'refuse', 'refuse_for_good');
    const id = await world.start('post');
    await world.run();
    expect(outside.applied).toHaveLength(1);
    expect(world.stateOf(id)).toMatchObject({ status: 'awaiting_approval', waits: [{ purpose: 'effect' }] });
  });

  test('by a repetition at the time that the receiver wants', async () => {
    const { outside, world } = installation(hello, { idempotency: 'required' });
    const id = await crashAtCall(world, outside, 'after');
    const later = world.clock.now() + 600_000;
    const calledAt: number[] = [];
    outside.onCall = () => {
      calledAt.push(world.clock.now());
      if (calledAt.length === 1) throw new NotApplied('busy', { retryAt: later });
    };
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(calledAt[1]).toBe(later);
  });

  test('after a timeout, without a lookup while the call may still act', async () => {
    const outside = new Outside({ withLookup: true });
    const gate = Promise.withResolvers<void>();
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step('send', { uses: [outside.capability], retry: RETRY, timeout: 1_000 }, ({ perform }) =>
          perform(outside.capability, { text: 'hello' }),
        ),
      }),
    });
    const world = new World({ workflows: [workflow], bindings: [outside.binding] });
    outside.onCall = () => (outside.calls === 1 ? gate.promise : undefined);
    const id = await world.start('post');
    const attempts = () => eventsOf(world, id).filter(({ type }) => type === 'step_started').length;
    await world.run(() => attempts() === 2);
    await settle();
    expect(outside).toMatchObject({ calls: 1, lookups: 0 });
    gate.resolve();
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
  });
});

describe('E7: every row has author, place, time and result', () => {
  test('the journal refers to the row', async () => {
    const { world } = installation(hello);
    const id = await world.start('post');
    await world.run();
    const [row] = rowsOf(world);
    expect(row).toMatchObject({
      runId: id,
      rootRunId: id,
      tenantId: 't1',
      stepId: 'send',
      revision: 1,
      attempt: 1,
      epoch: 1,
      n: 1,
      capabilityId: 'post.send',
      bindingId: 'post.send.pretended',
      effectClass: 'external_action',
      replayPolicy: 'use_recorded_result',
      status: 'recorded',
      requestText: '{"text":"hello"}',
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      responseHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(row?.updatedAt).toBeGreaterThanOrEqual(row?.createdAt ?? Number.NaN);
    const linked = eventsOf(world, id).flatMap(({ type, data }) =>
      'effectId' in data ? [[type, data.effectId]] : [],
    );
    expect(linked).toEqual([
      ['effect_attempted', row?.effectId],
      ['effect_settled', row?.effectId],
    ]);
  });
});
