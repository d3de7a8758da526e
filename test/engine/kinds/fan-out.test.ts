import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Completion } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const INPUT = z.object({ n: z.number() });

function mapping(
  options: { completion?: Completion; failing?: readonly number[]; concurrency?: number } = {},
) {
  const seen = { now: 0, most: 0, ran: [] as number[] };
  const workflow = defineWorkflow({
    type: 'mapping',
    planVersion: 1,
    input: INPUT,
    steps(step) {
      const list = step('list', ({ input }) => Array.from({ length: input.n }, (_, i) => i));
      const squares = step.map(
        'square',
        {
          needs: { list },
          over: ({ list }) => list,
          retry: { maxAttempts: 1 },
          concurrency: options.concurrency ?? 8,
          completion: options.completion ?? { tolerate: 0 },
        },
        async ({ item, index }) => {
          expect(index).toBe(item);
          seen.ran.push(item);
          seen.now += 1;
          seen.most = Math.max(seen.most, seen.now);
          await new Promise((resolve) => setImmediate(resolve));
          seen.now -= 1;
          if (options.failing?.includes(item)) throw new Error(`no ${item}`);
          return item * item;
        },
      );
      const sum = step('sum', { needs: { squares } }, ({ squares }) =>
        squares.reduce<number>((total, square) => total + (square ?? 0), 0),
      );
      return { squares, sum };
    },
  });
  return { workflow, seen };
}

async function ran(options: Parameters<typeof mapping>[0], n: number) {
  const { workflow, seen } = mapping(options);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('mapping', { n });
  await world.run();
  return { state: assertStored(world.db, runId), seen, world, runId };
}

const resultOf = (state: { result?: unknown }) => JSON.parse((state.result as { text: string }).text);

describe('a map', () => {
  test('has its results in the order of the items, and respects its concurrency', async () => {
    const { state, seen } = await ran({ concurrency: 3 }, 20);
    expect(state.status).toBe('completed');
    expect(resultOf(state).squares).toEqual(Array.from({ length: 20 }, (_, i) => i * i));
    expect(seen.most).toBe(3);
    expect(seen.ran).toHaveLength(20);
  });

  test('of no items ends at once', async () => {
    const { state } = await ran({}, 0);
    expect(resultOf(state)).toEqual({ squares: [], sum: 0 });
  });

  test.each<[string, Completion, readonly number[], 'completed' | 'failed']>([
    ['fails with its first item', { tolerate: 0 }, [3], 'failed'],
    ['tolerates the declared number of failures', { tolerate: 2 }, [3, 5], 'completed'],
    ['fails with one more', { tolerate: 2 }, [1, 3, 5], 'failed'],
    ['tolerates the declared share of failures', { tolerate: '20%' }, [3, 5], 'completed'],
    ['fails above the share', { tolerate: '20%' }, [1, 3, 5], 'failed'],
    ['succeeds with enough successes', { atLeast: 2 }, [0, 1, 2, 3], 'completed'],
    ['fails once enough successes are impossible', { atLeast: 8 }, [0, 1, 2], 'failed'],
  ])('%s', async (_, completion, failing, status) => {
    const { state } = await ran({ completion, failing, concurrency: 1 }, 10);
    expect(state.status).toBe(status);
    if (status === 'failed') expect(state.error).toMatchObject({ code: 'ITEMS_FAILED', stepId: 'square' });
    else for (const index of failing) expect(resultOf(state).squares[index]).toBeNull();
  });

  test('begins no further item once its outcome is decided', async () => {
    expect((await ran({ failing: [2], concurrency: 1 }, 10)).seen.ran).toEqual([0, 1, 2]);
    expect((await ran({ completion: { atLeast: 4 }, concurrency: 1 }, 10)).seen.ran).toEqual([0, 1, 2, 3]);
  });

  test('refuses more than a thousand items, with advice', async () => {
    const { state, seen } = await ran({}, 1_001);
    expect(state.status).toBe('failed');
    expect(state.error?.message).toMatch(/1001 items.*1000.*step\.child/);
    expect(seen.ran).toHaveLength(0);
  });

  test('of a thousand items keeps every commit and the snapshot within the limits', async () => {
    const { state, world, runId } = await ran({ concurrency: 64 }, 1_000);
    expect(resultOf(state).sum).toBe((999 * 1000 * 1999) / 6);
    const steps = await world.store.listSteps(runId, { limit: 2_000 });
    expect(steps.items.filter(({ status }) => status === 'succeeded')).toHaveLength(1_003);
  });
});

test('items that a crash interrupted run again, and ended ones do not', async () => {
  const runs: Record<number, number> = {};
  let block: Promise<never> | undefined = new Promise<never>(() => {});
  const workflow = defineWorkflow({
    type: 'mapping',
    planVersion: 1,
    input: INPUT,
    steps(step) {
      const all = step.map(
        'all',
        { over: ({ input }) => Array.from({ length: input.n }, (_, i) => i), concurrency: 2 },
        async ({ item }) => {
          runs[item] = (runs[item] ?? 0) + 1;
          if (item === 3 && block) await block;
          return item;
        },
      );
      return { all };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('mapping', { n: 6 });
  // The worker hangs in item 3. Another takes over when the lease has expired, before the step times out.
  await world.run(() => runs[3] === 1 && Object.keys(runs).length === 6);
  block = undefined;
  world.clock.jump(60_000);
  await world.run();
  const state = assertStored(world.db, runId);
  expect(resultOf(state)).toEqual({ all: [0, 1, 2, 3, 4, 5] });
  expect(runs).toMatchObject({ 0: 1, 1: 1, 2: 1, 4: 1, 5: 1 });
});
