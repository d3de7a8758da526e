import { describe, expect, test } from '@jest/globals';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { HOUR_MS, Scene } from './scene.ts';

/** Type, initiator and actor of each event. */
const words = (events: readonly RunEvent[]) =>
  events.map(({ type, initiator, actor }) => [type, initiator, ...(actor === undefined ? [] : [actor])]);

describe('approve', () => {
  test('gives the step its output in one commit, moves the run and sends a task', async () => {
    const scene = await Scene.asking();
    scene.world.clock.jump(60_000);
    const answer = await scene.decide('approve', { note: 'looks good' });
    const decidedAt = scene.now;
    expect(answer).toEqual({
      runId: scene.runId,
      stepId: 'gate',
      waitId: 'gate.1',
      decision: 'approve',
      decidedBy: 'c.ada',
      decidedAt,
    });
    expect(words(await scene.last(3))).toEqual([
      ['wait_resolved', 'approval', 'c.ada'],
      ['step_succeeded', 'system'],
      ['run_resumed', 'approval', 'c.ada'],
    ]);
    expect(scene.state).toMatchObject({ status: 'running', waits: [], policyDue: true });
    expect(await scene.outputOf('gate')).toEqual({ decision: 'approve', note: 'looks good', by: 'c.ada' });
    expect(scene.tasks()).toBe(1);
    const [step] = (await scene.world.store.listSteps(scene.runId, { limit: 10 })).items.filter(
      ({ id }) => id === 'gate',
    );
    expect(step).toMatchObject({ status: 'succeeded', kind: 'approval', attempts: 1 });
  });

  test('with a waiver requires a note and stores it', async () => {
    const scene = await Scene.asking();
    await expect(scene.decide('approve_with_waiver')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'note',
    });
    await scene.decide('approve_with_waiver', { note: 'one test is flaky' });
    expect(await scene.outputOf('gate')).toEqual({
      decision: 'approve_with_waiver',
      note: 'one test is flaky',
      by: 'c.ada',
    });
  });

  test('ends the step while the run is driven, and leaves the drive to continue', async () => {
    const scene = await Scene.begun();
    await scene.open('gate');
    await scene.decide('approve');
    expect(words(await scene.last(2))).toEqual([
      ['wait_resolved', 'approval', 'c.ada'],
      ['step_succeeded', 'system'],
    ]);
    expect(scene.state.lease).toBeDefined();
    expect(scene.tasks()).toBe(0);
  });

  test('ends the step while the run is interrupted; its recovery moves the run', async () => {
    const scene = await Scene.begun();
    await scene.open('gate');
    await scene.interrupt();
    await scene.decide('approve');
    expect(scene.state).toMatchObject({ status: 'interrupted', waits: [] });
    expect(scene.state.steps.get('gate')).toMatchObject({ phase: 'done', outcome: 'succeeded' });
    expect(scene.tasks()).toBe(1);
  });

  test('is visible to all readers even if the queue fails, and the scan enqueues the run', async () => {
    const scene = await Scene.asking();
    const queue = { enqueue: () => Promise.reject(new Error('no queue')) };
    expect(await scene.decide('approve', {}, { queue })).toMatchObject({ decision: 'approve' });
    expect(scene.wakeAt).toBeLessThanOrEqual(scene.now + 60_000);
    // A repeated request replaces the lost task.
    await scene.decide('approve');
    expect(scene.tasks()).toBe(1);
  });
});

describe('reject', () => {
  test.each([
    ['fail', 'failed', undefined],
    ['skip', 'skipped', null],
    [{ degradeTo: { decision: 'approve' } as never }, 'degraded', { decision: 'approve' }],
  ] as const)('has the effect that onFailure %j declares', async (onFailure, outcome, output) => {
    const scene = await Scene.asking({ onFailure });
    await scene.decide('reject', { note: 'too risky' });
    const { state } = scene;
    expect(state.steps.get('gate')).toMatchObject({ phase: 'done', outcome });
    expect(state.status).toBe('running');
    expect(await scene.outputOf('gate')).toEqual(output);
    const [, settled] = await scene.last(3);
    if (outcome === 'failed') {
      const message = "'gate' was rejected by c.ada: too risky";
      const error = { code: 'APPROVAL_REJECTED', message, stepId: 'gate', retryable: false };
      expect(settled).toMatchObject({ type: 'step_failed', data: { error } });
      expect(state.error).toEqual(error);
    }
    expect(scene.tasks()).toBe(1);
  });
});

describe('halt', () => {
  test('immediately cancels a run without a worker and without compensations', async () => {
    const scene = await Scene.asking();
    expect(await scene.decide('halt', { note: 'wrong branch' })).toMatchObject({ decision: 'halt' });
    expect(words(await scene.last(3))).toEqual([
      ['wait_resolved', 'approval', 'c.ada'],
      ['cancel_requested', 'user', 'c.ada'],
      ['run_cancelled', 'user', 'c.ada'],
    ]);
    expect(scene.state).toMatchObject({
      status: 'cancelled',
      stopKind: 'halt',
      waits: [],
      cancellation: { stopKind: 'halt', reason: 'wrong branch', actor: 'c.ada' },
    });
    expect(scene.tasks()).toBe(0);
  });

  test('requests the end of a run with compensations, and dispatches it', async () => {
    const scene = await Scene.asking({ undo: true });
    await scene.decide('halt');
    expect((await scene.last(3)).map(({ type }) => type)).toEqual([
      'wait_resolved',
      'cancel_requested',
      'run_resumed',
    ]);
    expect(scene.state).toMatchObject({ status: 'running', cancellation: { stopKind: 'halt' } });
    expect(scene.tasks()).toBe(1);
  });

  test('asks the worker of a running run to end it', async () => {
    const scene = await Scene.begun();
    await scene.open('gate');
    await scene.decide('halt');
    expect(scene.state).toMatchObject({ status: 'running', waits: [], cancellation: { stopKind: 'halt' } });
    expect(scene.state.lease).toBeDefined();
  });
});

describe('retry_with_feedback', () => {
  test('by default sends back the needs of the approval and all their dependents, as the next revision', async () => {
    const scene = await Scene.asking();
    await scene.decide('retry_with_feedback', { feedback: 'say why' });
    const [, given] = await scene.last(3);
    expect(given).toMatchObject({
      type: 'feedback_given',
      initiator: 'approval',
      actor: 'c.ada',
      data: {
        waitId: 'gate.1',
        steps: ['review'],
        again: ['review', 'gate', 'ship'],
        feedback: 'say why',
      },
    });
    const { steps, status, waits, feedback } = scene.state;
    expect([status, waits]).toEqual(['running', []]);
    expect(steps.get('review')).toMatchObject({ phase: 'again', revision: 2 });
    expect(steps.get('gate')).toMatchObject({ phase: 'again', revision: 2 });
    expect(steps.get('fetch')).toMatchObject({ phase: 'done', revision: 1 });
    expect(feedback).toMatchObject([{ steps: ['review', 'gate', 'ship'], text: 'say why' }]);
    expect(scene.tasks()).toBe(1);
  });

  test('sends back the steps it names', async () => {
    const scene = await Scene.asking();
    await scene.decide('retry_with_feedback', {
      feedback: 'fetch all',
      steps: ['review', 'fetch', 'review'],
    });
    expect((await scene.last(3))[1]).toMatchObject({
      data: { steps: ['fetch', 'review'], again: ['fetch', 'review', 'gate', 'push', 'ship'] },
    });
  });

  test.each([
    ['a step that does not exist', ['nope'], 'nope'],
    ['a step that follows', ['review', 'ship'], 'ship'],
    ['a step beside it', ['push'], 'push'],
    ['itself', ['gate'], 'gate'],
  ])('is refused with the name of %s', async (_, steps, stepId) => {
    const scene = await Scene.asking();
    const { head } = scene.state;
    await expect(scene.decide('retry_with_feedback', { feedback: 'f', steps })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      stepId,
    });
    expect(scene.state.head).toBe(head);
  });

  test('is refused for an approval without needs, because nothing can be sent back', async () => {
    const scene = await Scene.begun();
    await scene.open('lone');
    await scene.suspend();
    await expect(
      scene.decide('retry_with_feedback', { stepId: 'lone', feedback: 'f' }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT', stepId: 'lone' });
  });

  test('does not answer the next question when it is sent again', async () => {
    const scene = await Scene.asking();
    await scene.decide('retry_with_feedback', { feedback: 'say why' });
    await scene.claim();
    await scene.done('review', { revision: 2 });
    await scene.open('gate', { dueAt: scene.now + HOUR_MS });
    await scene.suspend();
    const { head } = scene.state;
    // A request repeated after its response was lost must not send the new work back.
    const again = await scene.decide('retry_with_feedback', { feedback: 'say why' });
    expect(again).toMatchObject({ waitId: 'gate.1' });
    expect(scene.state.head).toBe(head);
    expect(await scene.decide('approve')).toMatchObject({ waitId: 'gate.2' });
  });

  test('with the same content answers the next question if it names that one', async () => {
    const scene = await Scene.asking();
    await scene.decide('retry_with_feedback', { feedback: 'no' });
    await scene.claim();
    await scene.done('review', { revision: 2 });
    await scene.open('gate');
    const again = await scene.decide('retry_with_feedback', { feedback: 'no', waitId: 'gate.2' });
    expect(again).toMatchObject({ waitId: 'gate.2' });
    expect(scene.state.steps.get('review')).toMatchObject({ phase: 'again', revision: 3 });
  });
});
