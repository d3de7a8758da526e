import { describe, expect, test } from '@jest/globals';
import { Scene } from './scene.ts';

describe('a step in doubt', () => {
  test('runs again at once if it is approved', async () => {
    const scene = await Scene.inDoubt();
    expect(await scene.decide('approve', { stepId: 'push' })).toMatchObject({
      stepId: 'push',
      waitId: 'push.1.1.doubt',
    });
    const [, scheduled] = await scene.last(3);
    expect(scheduled).toMatchObject({
      type: 'step_retry_scheduled',
      data: { stepId: 'push', attempt: 1, retryAt: scene.now, error: { code: 'RUN_ORPHANED' } },
    });
    expect(scene.state.steps.get('push')).toMatchObject({ phase: 'retrying', attempt: 1 });
    expect(scene.state.status).toBe('running');
    expect(scene.tasks()).toBe(1);
  });

  test('counts as done without an output if it is waived, with the note as the reason', async () => {
    const scene = await Scene.inDoubt();
    await scene.decide('approve_with_waiver', { stepId: 'push', note: 'the tag is there' });
    const [, settled] = await scene.last(3);
    expect(settled).toMatchObject({ type: 'step_degraded', data: { reason: 'the tag is there' } });
    expect(await scene.outputOf('push')).toBeNull();
  });

  test.each([
    ['fail', 'failed'],
    ['skip', 'skipped'],
  ] as const)('fails as its onFailure %s says if it is rejected', async (onFailure, outcome) => {
    const scene = await Scene.inDoubt({ stepId: 'push' }, { onFailure });
    await scene.decide('reject', { stepId: 'push' });
    expect(scene.state.steps.get('push')).toMatchObject({ phase: 'done', outcome });
    if (outcome === 'failed')
      expect(scene.state.error).toMatchObject({ code: 'RUN_ORPHANED', stepId: 'push' });
  });

  test('ends the run if it is halted', async () => {
    const scene = await Scene.inDoubt();
    await scene.decide('halt', { stepId: 'push' });
    expect(scene.state).toMatchObject({ status: 'cancelled', stopKind: 'halt' });
  });

  test('cannot be sent back', async () => {
    const scene = await Scene.inDoubt();
    await expect(
      scene.decide('retry_with_feedback', { stepId: 'push', feedback: 'f' }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'decision', stepId: 'push' });
  });

  test('can be an item: each item is decided by its own key, and both answers are stored', async () => {
    const scene = await Scene.inDoubt({ stepId: 'files', itemKey: '0' });
    await scene.claim();
    await scene.doubt({ stepId: 'files', itemKey: '1' });
    await scene.suspend();
    await scene.decide('approve', { stepId: 'files[0]' });
    await scene.decide('reject', { stepId: 'files[1]' });
    const { steps, error } = scene.state;
    expect(steps.get('files[0]')).toMatchObject({ phase: 'retrying' });
    expect(steps.get('files[1]')).toMatchObject({ phase: 'done', outcome: 'failed' });
    // The step determines the meaning of an item's failure.
    expect(error).toBeUndefined();
    expect(await scene.decide('approve', { stepId: 'files[0]' })).toMatchObject({
      waitId: 'files[0].1.1.doubt',
    });
  });
});
