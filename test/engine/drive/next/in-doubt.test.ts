import { describe, expect, test } from '@jest/globals';
import { Fatal } from '../../../../packages/cairn/src/core/errors.ts';
import { drive } from '../../../../packages/cairn/src/engine/drive/drive.ts';
import { startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import { EffectMoved } from '../../../../packages/cairn/src/journal/run-journal.ts';
import { cancelRun } from '../../../../packages/cairn/src/operations/cancel-run.ts';
import { intercept } from '../../../support/intercept.ts';
import { Outside, type OutsideOptions } from '../../../support/outside.ts';
import { settle } from '../../../support/virtual-clock.ts';
import { World } from '../../../support/world.ts';
import { workflowOf } from '../../kinds/one-run.ts';
import { Dispatch } from './dispatch.ts';

/** A dispatch in which a body has just ended whose call got no answer. */
async function inDoubt(options: OutsideOptions = {}, maxAttempts = 3) {
  const outside = new Outside(options);
  const { capability } = outside;
  outside.faults.push('lose_answer');
  const dispatch = await Dispatch.of(
    (step) => ({
      a: step('a', { uses: [capability], retry: { maxAttempts } }, ({ perform }) =>
        perform(capability, { text: 'x' }),
      ),
    }),
    { bindings: [outside.binding] },
  );
  startReady(dispatch.working);
  await dispatch.settle();
  return { dispatch, follows: dispatch.next(dispatch.take('body_ended')) };
}

const EVERY_STOP = [undefined, 'budget', 'shutdown', 'paused'] as const;

describe('a body with an effect in doubt', () => {
  test.each([
    ['without a lookup looks for its question', {}, 3, 'find_question a'],
    [
      'that a lookup finds out is tried again',
      { withLookup: true },
      3,
      'a: effect_settled + step_retry_scheduled > rests',
    ],
    [
      'that the receiver does not repeat is tried again',
      { idempotency: 'required' },
      3,
      'a: effect_settled + step_retry_scheduled > rests',
    ],
    ['does not fail without attempts left', { withLookup: true }, 1, 'find_question a'],
  ] as const)('%s', async (_, options, maxAttempts, given) => {
    const { dispatch, follows } = await inDoubt(options, maxAttempts);
    expect(follows).toBe('nothing');
    expect(dispatch.given).toEqual([given]);
  });

  test('keeps the dispatch from concluding before its question is queued for the journal', async () => {
    const { dispatch } = await inDoubt();
    for (const stop of EVERY_STOP) expect(dispatch.concluded(stop)).toBe('wait');
    // The same holds once another step has failed.
    dispatch.working.failure = { code: 'X', message: 'x', retryable: false };
    for (const stop of EVERY_STOP) expect(dispatch.concluded(stop)).toBe('wait');
    expect(await dispatch.carryOut()).toBe('nothing');
    expect(dispatch.given).toEqual(['a: effect_settled + effect_settled + wait_opened > waits']);
    // An end of the run is queued behind the question from here on.
    expect(dispatch.concluded()).toBe('failed');
  });

  test('keeps the dispatch from concluding before its question is in the journal', async () => {
    const { dispatch } = await inDoubt();
    expect(await dispatch.carryOut()).toBe('nothing');
    expect(dispatch.concluded()).toBe('wait');
    expect(await dispatch.carryOut()).toBe('begin');
    await dispatch.carryOutAll();
    expect(dispatch.concluded()).toBe('suspend');
    expect(dispatch.journal.state.waits).toMatchObject([{ purpose: 'effect', execution: { stepId: 'a' } }]);
  });

  test('is retried if the answer has arrived meanwhile', async () => {
    const { dispatch } = await inDoubt();
    const [command] = dispatch.commands;
    if (command?.kind !== 'find_question') throw new Error('no question is looked for');
    const { ended, doubt } = command;
    const { message } = doubt.error;
    expect(message).toContain("'post.send'");
    expect(dispatch.next({ kind: 'question_found', ended, ask: undefined, error: doubt.error })).toBe(
      'nothing',
    );
    expect(dispatch.given[1]).toBe('a: effect_settled + step_retry_scheduled > rests');
    const [, again] = dispatch.commands;
    if (again?.kind !== 'record') throw new Error('nothing is recorded');
    expect(again.change.decide(dispatch.journal.state)).toMatchObject({
      consequence: { kind: 'rests', at: dispatch.now + 1_000 },
    });
  });

  test('is retried if its row has changed when the question is written', async () => {
    const { dispatch } = await inDoubt();
    await dispatch.carryOut();
    const append = dispatch.journal.append.bind(dispatch.journal);
    dispatch.journal.append = () => Promise.reject(new EffectMoved('moved'));
    expect(await dispatch.carryOut()).toBe('nothing');
    dispatch.journal.append = append;
    expect(dispatch.given).toEqual(['a: effect_settled + step_retry_scheduled > rests']);
    expect(dispatch.concluded()).toBe('wait');
  });

  test('rests where the question has no room, and is retried first when there is room', async () => {
    const { dispatch } = await inDoubt();
    const { waits, withoutRoom } = dispatch.working;
    const { freeBytes } = waits;
    Object.defineProperty(waits, 'freeBytes', { value: 10, configurable: true });
    expect(await dispatch.carryOut()).toBe('nothing');
    expect(dispatch.given).toEqual(['a: effect_settled + step_retry_scheduled > rests_without_room']);
    await dispatch.carryOut();
    expect(withoutRoom.size).toBe(1);
    expect(dispatch.working.question).toBeUndefined();
    Object.defineProperty(waits, 'freeBytes', { value: freeBytes });
    expect(dispatch.working.question).toBe('a');
  });
});

describe('a run with an effect in doubt', () => {
  /** A dispatch that looks for the question, and gets no answer of the ledger before `answer` is called. */
  async function looking(isAccompanied: boolean) {
    const outside = new Outside();
    const { capability } = outside;
    outside.faults.push('lose_answer');
    const failing = Promise.withResolvers<never>();
    const workflow = workflowOf((step) => ({
      a: step('a', { uses: [capability] }, ({ perform }) => perform(capability, { text: 'x' })),
      ...(isAccompanied && { b: step('b', () => failing.promise) }),
    }));
    const world = new World({ workflows: [workflow], bindings: [outside.binding] });
    const runId = await world.start('w');
    const held = Promise.withResolvers<void>();
    let reads = 0;
    const effects = intercept(world.deps.effects, async ({ method }, proceed) => {
      // The first belongs to the attempt, which has not ended while its call may still act.
      if (method === 'read') reads += 1;
      if (method === 'read' && reads > 1) await held.promise;
      return proceed();
    });
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    const end = drive({ ...world.deps, effects }, { runId });
    await settle();
    expect(reads).toBe(2);
    const fail = () => failing.reject(new Fatal('no'));
    const answer = async () => {
      held.resolve();
      await settle();
      return world.eventTypes(runId);
    };
    return { world, runId, end, fail, answer };
  }

  test('fails after its question is committed, if another step fails during the lookup', async () => {
    const { world, runId, end, fail, answer } = await looking(true);
    fail();
    await settle();
    expect(await world.eventTypes(runId)).not.toContain('run_failed');
    const types = await answer();
    expect(types.slice(types.indexOf('step_failed'))).toEqual([
      'step_failed',
      'effect_settled',
      'effect_settled',
      'wait_opened',
      'run_failed',
    ]);
    expect(await end).toBe('closed');
  });

  test('is released after its question is committed, if the worker is to end during the lookup', async () => {
    const { world, runId, end, answer } = await looking(false);
    world.shutdown.abort();
    await settle();
    expect(await world.eventTypes(runId)).not.toContain('run_released');
    const types = await answer();
    expect(types.slice(-2)).toEqual(['wait_opened', 'run_released']);
    expect(await end).toBe('released');
  });

  test('is cancelled after its question is committed, if a cancel arrives during the lookup', async () => {
    const { world, runId, end, fail, answer } = await looking(true);
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    fail();
    await settle();
    expect(await world.eventTypes(runId)).not.toContain('run_cancelled');
    const types = await answer();
    expect(types).toContain('wait_opened');
    expect(types.at(-1)).toBe('run_cancelled');
    expect(await end).toBe('closed');
  });
});
