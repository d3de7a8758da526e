import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import {
  LONGEST_STEP_ANYWHERE_MS,
  LONGEST_STEP_MS,
  PRODUCTION_SETTINGS,
} from '../../packages/cairn/src/engine/settings.ts';
import { pause } from '../../packages/cairn/src/ports/clock.ts';
import { intercept } from '../support/intercept.ts';
import { mortal } from '../support/mortal.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

type Manner = 'ends when told' | 'rejects when told' | 'does not listen';

/** A quick step beside one that is still under way when the process is told to end. */
function slowBeside({ manner, idempotent }: { manner: Manner; idempotent: boolean }) {
  const ran = { quick: 0, slow: 0 };
  const workflow = defineWorkflow({
    type: 'slow-beside',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const quick = step('quick', () => {
        ran.quick += 1;
        return 1;
      });
      const slow = step('slow', { idempotent, timeout: '5m' }, ({ signal }) => {
        ran.slow += 1;
        if (ran.slow > 1) return 2;
        return new Promise<number>((resolve, reject) => {
          if (manner === 'does not listen') return;
          signal.addEventListener('abort', () =>
            manner === 'ends when told' ? resolve(2) : reject(signal.reason),
          );
        });
      });
      const sum = step('sum', { needs: { quick, slow } }, ({ quick, slow }) => quick + slow);
      return { sum };
    },
  });
  return { workflow, ran };
}

async function terminated(options: { manner: Manner; idempotent: boolean }) {
  const { workflow, ran } = slowBeside(options);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('slow-beside');
  world.queue.take();
  const leaving = mortal(world.deps, 50);
  const end = drive(leaving.deps, { runId });
  await settle();
  expect(ran).toEqual({ quick: 1, slow: 1 });
  leaving.terminate();
  await settle();
  return { world, runId, ran, end };
}

describe('a drive whose process is shutting down', () => {
  test.each([true, false])(
    'keeps the result of a step that ends in time (idempotent: %s), and hands the rest over',
    async (idempotent) => {
      const { world, runId, ran, end } = await terminated({ manner: 'ends when told', idempotent });
      expect(await end).toBe('released');
      expect(world.queue.pending).toMatchObject([{ runId, reason: 'continue' }]);
      const released = await world.folded(runId);
      expect(released.lease).toBeUndefined();
      expect(released.inFlight).toEqual([]);
      await world.run();
      expect(assertStored(world.db, runId)).toMatchObject({
        status: 'completed',
        result: { text: '{"sum":3}' },
      });
      expect(ran).toEqual({ quick: 1, slow: 1 });
    },
  );

  test.each(['rejects when told', 'does not listen'] as const)(
    'leaves a step that %s to the next drive',
    async (manner) => {
      const { world, runId, ran, end } = await terminated({ manner, idempotent: true });
      const before = world.clock.now();
      while (world.queue.pending.length === 0 && world.clock.fireNext()) await settle();
      expect(await end).toBe('released');
      const grace = world.deps.settings.graceMs;
      expect(world.clock.now() - before).toBeLessThanOrEqual(manner === 'does not listen' ? grace : 0);
      expect((await world.folded(runId)).inFlight).toEqual([{ stepId: 'slow', revision: 1 }]);
      await world.run();
      const state = assertStored(world.db, runId);
      expect(state).toMatchObject({ status: 'completed', result: { text: '{"sum":3}' }, inFlight: [] });
      expect(ran).toEqual({ quick: 1, slow: 2 });
      // It was released, not found dead.
      expect(await world.eventTypes(runId)).not.toContain('orphan_detected');
    },
  );

  test.each(['rejects when told', 'does not listen'] as const)(
    'fails the run if a step that %s must not run twice',
    async (manner) => {
      const { world, runId, ran } = await terminated({ manner, idempotent: false });
      await world.run();
      const state = assertStored(world.db, runId);
      expect(state.status).toBe('failed');
      expect(state.error).toMatchObject({ code: 'RUN_ORPHANED', stepId: 'slow' });
      expect(ran.slow).toBe(1);
    },
  );

  test('starts nothing if the shutdown came before it began', async () => {
    const { workflow, ran } = slowBeside({ manner: 'ends when told', idempotent: true });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('slow-beside');
    world.queue.take();
    const leaving = mortal(world.deps, 50);
    leaving.terminate();
    expect(await drive(leaving.deps, { runId })).toBe('released');
    expect(ran).toEqual({ quick: 0, slow: 0 });
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
  });
});

describe('a run longer than the budget of a drive', () => {
  function chainOf(world: () => World, steps: number, stepMs: number) {
    const ran: string[] = [];
    const workflow = defineWorkflow({
      type: 'long-chain',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const body = async ({ stepId }: { stepId: string }) => {
          ran.push(stepId);
          await pause(world().clock, stepMs);
          return ran.length;
        };
        let last = step('s1', { timeout: stepMs * 2 }, body);
        for (let i = 2; i <= steps; i += 1) {
          last = step(`s${i}`, { needs: { last }, timeout: stepMs * 2 }, body);
        }
        return { last };
      },
    });
    return { workflow, ran };
  }

  test('is handed over from drive to drive, and runs no step twice', async () => {
    const { workflow, ran } = chainOf(() => world, 50, 1_000);
    const world: World = new World({ workflows: [workflow], settings: { budgetMs: 10_000 } });
    const runId = await world.start('long-chain');
    await world.run();
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', resumeCount: 0, interruptions: 0 });
    expect(state.epoch).toBeGreaterThanOrEqual(5);
    expect(ran).toEqual(Array.from({ length: 50 }, (_, i) => `s${i + 1}`));
    const types = await world.eventTypes(runId);
    expect(types.filter((type) => type === 'run_released')).toHaveLength(state.epoch - 1);
    expect(types).not.toContain('orphan_detected');
  });

  test('continues without its tasks too: the scan finds it after each hand-over', async () => {
    const { workflow, ran } = chainOf(() => world, 12, 1_000);
    const world: World = new World({ workflows: [workflow], settings: { budgetMs: 5_000 } });
    const runId = await world.start('long-chain');
    const queue = {
      enqueue: (task: Parameters<typeof world.queue.enqueue>[0]) =>
        task.reason === 'continue' ? Promise.resolve() : world.queue.enqueue(task),
    };
    await world.run(undefined, { ...world.deps, queue });
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(ran).toHaveLength(12);
  });

  test('makes progress with a step whose timeout is longer than the whole budget', async () => {
    const { workflow, ran } = chainOf(() => world, 4, 3_000);
    const world: World = new World({ workflows: [workflow], settings: { budgetMs: 5_000 } });
    const runId = await world.start('long-chain');
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(ran).toEqual(['s1', 's2', 's3', 's4']);
  });

  test('aborts a step that outlasts the budget, and leaves it to the next drive', async () => {
    const why: unknown[] = [];
    const workflow = defineWorkflow({
      type: 'outlasting',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        only: step('only', { timeout: '5m' }, ({ signal }) => {
          if (why.length > 0) return 'second time';
          return new Promise<string>((_, reject) => {
            signal.addEventListener('abort', () => {
              why.push(signal.reason);
              reject(signal.reason);
            });
          });
        }),
      }),
    });
    const world = new World({ workflows: [workflow], settings: { budgetMs: 5_000 } });
    const runId = await world.start('outlasting');
    await world.run();
    expect(why).toMatchObject([{ why: 'budget' }]);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"only":"second time"}' },
    });
  });

  test('ends at its timeout if it hangs, even with the longest timeout and a slow start', async () => {
    const define = (timeout: number) =>
      defineWorkflow({
        type: 'hanging-for-ever',
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({
          only: step('only', { timeout, retry: { maxAttempts: 1 } }, () => new Promise<never>(() => {})),
        }),
      });
    expect(() => define(LONGEST_STEP_ANYWHERE_MS + 1)).toThrow('exceeds the longest dispatch');
    const world = new World({ workflows: [define(LONGEST_STEP_MS)], settings: PRODUCTION_SETTINGS });
    const runId = await world.start('hanging-for-ever');
    const store = intercept(world.store, async ({ method }, proceed) => {
      const answer = await proceed();
      // Between claim and first step: what reading the input and the outputs of earlier drives may take.
      if (method === 'commit') world.clock.jump(5_000);
      return answer;
    });
    await world.run(undefined, { ...world.deps, store });
    const state = assertStored(world.db, runId);
    expect(state.error).toMatchObject({ code: 'STEP_TIMEOUT', stepId: 'only' });
    expect(state.epoch).toBe(1);
  });
});
