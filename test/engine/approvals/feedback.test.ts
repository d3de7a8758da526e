import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { settle } from '../../support/virtual-clock.ts';
import { reviewed, sceneOf, untilAsked } from './scene.ts';

describe('feedback', () => {
  test('starts the next revision, whose body receives it; earlier revisions stay readable', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    const first = scene.state().steps.get('draft');
    await scene.decide('retry_with_feedback', { feedback: 'shorter' });
    await untilAsked(scene);
    expect(scene.state().waits).toMatchObject([
      { id: 'gate.2', detailText: '{"question":"Publish draft 2?"}' },
    ]);
    await scene.decide('retry_with_feedback', { feedback: 'shorter still' });
    await untilAsked(scene);
    await scene.decide('approve', { waitId: 'gate.3' });
    await scene.world.run();
    expect(scene.state().status).toBe('completed');
    expect(scene.result()).toMatchObject({ published: ['draft 3', { decision: 'approve' }] });
    expect(scene.log).toEqual([
      'facts',
      'draft 1 1 -',
      'draft 2 1 shorter',
      'draft 3 1 shorter still',
      'publish draft 3',
    ]);
    const { items } = await scene.world.store.listCheckpoints(scene.runId, { limit: 100 });
    const drafts = items
      .filter(({ stepId }) => stepId === 'draft')
      .map(({ revision, outputText }) => [revision, outputText]);
    expect(drafts.sort()).toEqual([
      [1, '"draft 1"'],
      [2, '"draft 2"'],
      [3, '"draft 3"'],
    ]);
    const [kept] = await scene.world.store.readCheckpoints(scene.runId, [first?.seq ?? 0]);
    expect(kept).toMatchObject({ revision: 1, outputText: '"draft 1"' });
    const hashes = new Set(
      items.filter(({ stepId }) => stepId === 'draft').map(({ inputsHash }) => inputsHash),
    );
    expect(hashes.size).toBe(3);
  });

  test('may name earlier steps; steps that do not depend on them are kept', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    await scene.decide('retry_with_feedback', { feedback: 'check them', steps: ['facts'] });
    await untilAsked(scene);
    expect(scene.log).toEqual(['facts', 'draft 1 1 -', 'facts', 'draft 2 1 check them']);
  });

  test('reaches running steps, whose results are then discarded', async () => {
    const scene = await sceneOf((log) =>
      defineWorkflow({
        type: 'busy',
        planVersion: 1,
        input: z.unknown(),
        steps(step) {
          const draft = step('draft', ({ revision }) => revision);
          const slow = step('slow', { needs: { draft }, timeout: '5m' }, ({ draft, signal }) => {
            log.push(`slow of ${draft}`);
            if (draft > 1) return draft;
            return new Promise<number>((_, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason as Error)),
            );
          });
          const gate = step.approval('gate', { needs: { draft }, ask: () => '?' });
          return { end: step('end', { needs: { slow, gate } }, ({ slow }) => slow) };
        },
      }),
    );
    const { world, runId } = scene;
    world.queue.take();
    const driving = drive(world.deps, { runId });
    await settle();
    expect(scene.log).toEqual(['slow of 1']);
    await scene.decide('retry_with_feedback', { feedback: 'again' });
    const sentAt = world.clock.now();
    while (world.clock.fireNext(sentAt + 5_000)) await settle();
    expect(await driving).toBe('released');
    await untilAsked(scene);
    expect(scene.log).toEqual(['slow of 1', 'slow of 2']);
    await scene.decide('approve');
    await world.run();
    expect(scene.result()).toEqual({ end: 2 });
  });
});
