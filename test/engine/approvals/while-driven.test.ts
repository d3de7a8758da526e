import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { settle } from '../../support/virtual-clock.ts';
import { type Scene, sceneOf } from './scene.ts';

describe('a decision while the run is driven', () => {
  const beside = (log: string[]) =>
    defineWorkflow({
      type: 'beside',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const slow = step('slow', { timeout: '5m' }, ({ signal }) => {
          log.push('slow');
          return new Promise<number>((resolve, reject) => {
            resolvers.push(() => resolve(7));
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        });
        const gate = step.approval('gate', { ask: () => '?' });
        const after = step('after', { needs: { gate } }, ({ gate }) => {
          log.push(`after ${gate.decision}`);
          return 1;
        });
        return { slow, after };
      },
    });
  let resolvers: (() => void)[] = [];

  async function driven() {
    resolvers = [];
    const scene = await sceneOf(beside);
    scene.world.queue.take();
    const driving = drive(scene.world.deps, scene);
    await settle();
    expect(scene.log).toEqual(['slow']);
    expect(scene.state().waits).toHaveLength(1);
    return { ...scene, driving };
  }

  async function within(scene: Scene, ms: number): Promise<void> {
    const until = scene.world.clock.now() + ms;
    while (scene.world.clock.fireNext(until)) await settle();
  }

  test('takes effect within five seconds, without another task', async () => {
    const scene = await driven();
    await scene.decide('approve');
    expect(scene.world.queue.pending).toHaveLength(0);
    await within(scene, 5_000);
    expect(scene.log).toEqual(['slow', 'after approve']);
    for (const resolve of resolvers) resolve();
    await settle();
    await within(scene, 5_000);
    expect(await scene.driving).toBe('closed');
    expect(scene.result()).toEqual({ slow: 7, after: 1 });
  });

  test.each(['halt', 'reject'] as const)('to %s ends the running bodies, and the run', async (decision) => {
    const scene = await driven();
    await scene.decide(decision);
    const decidedAt = scene.world.clock.now();
    if (decision === 'reject') for (const resolve of resolvers) resolve();
    await within(scene, 5_000);
    expect(await scene.driving).toBe('closed');
    const state = scene.state();
    expect(state.status).toBe(decision === 'halt' ? 'cancelled' : 'failed');
    expect((state.completedAt ?? 0) - decidedAt).toBeLessThanOrEqual(5_000);
  });
});
