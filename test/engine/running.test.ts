import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { currentStepOf, runningNow } from '../../packages/cairn/src/core/run/now/running.ts';
import { stepKey } from '../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { type EngineSettings, PRODUCTION_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { pause } from '../../packages/cairn/src/ports/clock.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

type Sleep = (ms: number) => Promise<void>;

/** A world with production settings, whose bodies take simulated time. */
function worldOf(workflowOf: (sleep: Sleep) => Workflow, settings: Partial<EngineSettings> = {}) {
  let clock: VirtualClock | undefined;
  const workflow = workflowOf((ms) => {
    if (!clock) throw new Error('a body ran before there was a clock');
    return pause(clock, ms);
  });
  const world = new World({ workflows: [workflow], settings: { ...PRODUCTION_SETTINGS, ...settings } });
  clock = world.clock;
  const writes: number[] = [];
  const { touch } = world.store;
  world.store.touch = (what) => {
    writes.push(world.clock.now());
    return touch.call(world.store, what);
  };
  const shown = async (runId: string) => {
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('the run is gone');
    return {
      running: runningNow(loaded.state, loaded.metadata),
      current: currentStepOf(loaded.state, loaded.metadata),
      metadata: loaded.metadata.running ?? [],
    };
  };
  const at = async (ms: number) => {
    world.clock.timer(begun + ms - world.clock.now(), () => {});
    await world.run(() => world.clock.now() >= begun + ms);
  };
  const begun = world.clock.now();
  return { world, begun, writes, shown, at, start: () => world.start(workflow.type) };
}

const one = (ms: number) => (sleep: Sleep) =>
  defineWorkflow({
    type: 'one',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ slow: step('slow', { timeout: '5m' }, () => sleep(ms)) }),
  });

describe('a running body', () => {
  test('is named two seconds after it began, by one write', async () => {
    const { shown, at, writes, start, begun, world } = worldOf(one(10_000));
    const runId = await start();
    await at(1_900);
    expect((await shown(runId)).running).toEqual([]);
    await at(2_001);
    expect(await shown(runId)).toMatchObject({
      running: [{ step: 'slow', revision: 1, attempt: 1, since: begun }],
      current: 'slow',
    });
    await world.run();
    expect(writes).toEqual([begun + 2_000]);
    expect(await shown(runId)).toEqual({ running: [], current: undefined, metadata: [] });
  });

  test.each([0, 500, 1_900])('causes no write if it takes %i ms, however many follow', async (ms) => {
    const { writes, start, world } = worldOf((sleep) =>
      defineWorkflow({
        type: 'ten',
        planVersion: 1,
        input: z.object({}),
        steps(step) {
          let last = step('s0', () => sleep(ms));
          for (let i = 1; i < 10; i += 1) last = step(`s${i}`, { needs: { last } }, () => sleep(ms));
          return { last };
        },
      }),
    );
    const runId = await start();
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
    const lagging = writes.length;
    // A lagging snapshot is written after the flush time, whether it reports bodies or not.
    expect(lagging).toBeLessThanOrEqual(ms === 500 ? 5 : 0);
  });

  test('is named with its attempt, once more for each attempt', async () => {
    let tries = 0;
    const { shown, at, start, begun } = worldOf((sleep) =>
      defineWorkflow({
        type: 'again',
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({
          slow: step('slow', { retry: { maxAttempts: 2, initialMs: 2_000 } }, async () => {
            tries += 1;
            if (tries === 1) {
              await sleep(3_000);
              throw new Error('not yet');
            }
            await sleep(10_000);
          }),
        }),
      }),
    );
    const runId = await start();
    await at(2_500);
    expect((await shown(runId)).running).toMatchObject([{ attempt: 1, since: begun }]);
    await at(3_001);
    expect(await shown(runId)).toMatchObject({ running: [], current: 'slow' });
    await at(8_500);
    const [second] = (await shown(runId)).running;
    expect(second).toMatchObject({ step: 'slow', attempt: 2 });
    expect(second?.since).toBeGreaterThan(begun + 3_000);
  });

  test('is named with the others of its set, the oldest first, up to the limit of a snapshot', async () => {
    const many = (sleep: Sleep) =>
      defineWorkflow({
        type: 'many',
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({
          all: step.map('all', { over: () => [...Array(80).keys()], concurrency: 80 }, () => sleep(5_000)),
        }),
      });
    const { shown, at, start } = worldOf(many, { concurrentSteps: 80 });
    const runId = await start();
    await at(2_100);
    const { metadata, running } = await shown(runId);
    expect(metadata.map(({ step }) => step)).toEqual(
      Array.from({ length: 64 }, (_, i) => stepKey({ stepId: 'all', itemKey: String(i) })),
    );
    expect(running.map(({ step }) => step)).toEqual([...metadata.map(({ step }) => step), 'all']);
  });

  test('of a compensation is marked as such', async () => {
    const { shown, at, start } = worldOf((sleep) =>
      defineWorkflow({
        type: 'undone',
        planVersion: 1,
        input: z.object({}),
        steps(step) {
          const made = step('made', { compensate: () => sleep(9_000) }, () => 1);
          return {
            broken: step('broken', { needs: { made } }, () => {
              throw new Error('broken');
            }),
          };
        },
      }),
    );
    const runId = await start();
    await at(2_100);
    expect(await shown(runId)).toMatchObject({
      running: [{ step: 'made', attempt: 1, undoes: true }],
      current: 'made',
    });
  });
});
