import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { listChange, markOf } from '../../../packages/cairn/src/core/plan/item-marks.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { dieDuring } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven, resultOf, reusedIn, said } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

let items: unknown[];
let hangs: boolean;
let undone: unknown[];

const work = defineWorkflow({
  type: 'work',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    all: step.map(
      'all',
      {
        over: () => items,
        concurrency: 1,
        onFailure: 'skip',
        compensate: ({ item }) => void undone.push(item),
      },
      ({ item, index }) => (hangs && index === 1 ? new Promise<unknown>(() => {}) : item),
    ),
  }),
});

/** A run whose worker died in its second item. */
async function cutOff(): Promise<{ world: World; runId: string }> {
  const world = new World({ workflows: [work] });
  const runId = await world.start('work');
  world.queue.take();
  await dieDuring(world.deps, { runId });
  hangs = false;
  return { world, runId };
}

beforeEach(() => {
  hangs = true;
  undone = [];
  items = ['a', 'b', 'c'];
});

describe('a list that is made again after a crash', () => {
  test('and is the same continues its set', async () => {
    const { world, runId } = await cutOff();
    items = ['a', 'b', 'c'];
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"all":["a","b","c"]}' },
    });
  });

  test.each([
    ['is longer', ['a', 'b', 'c', 'd'], 'had 3 items, and has 4 now'],
    ['has another order', ['b', 'a', 'c'], 'had 3 items, and has 3 others now'],
    ['is empty', [], 'had 3 items, and has 0 now'],
  ])(
    'and %s fails the run by name, whatever onFailure says, and undoes no item of it',
    async (_, now, what) => {
      const { world, runId } = await cutOff();
      items = now;
      await world.run();
      const { status, error } = assertStored(world.db, runId);
      expect([status, error?.code, error?.stepId]).toEqual(['failed', 'SET_CHANGED', 'all']);
      expect(error?.message).toContain(what);
      expect(undone).toEqual([undefined]);
    },
  );

  test('and has values that are not JSON is not compared', async () => {
    items = [() => 1, 2, 3];
    const { world, runId } = await cutOff();
    expect(world.db.runs.get(runId)?.snapshot.itemMarks).toBeUndefined();
    expect(markOf([1n])).toBeUndefined();
  });
});

describe('a successor with a set whose items it reuses', () => {
  let isMended: boolean;
  const sending = defineWorkflow({
    type: 'sending',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      all: step.map('all', { over: () => items, concurrency: 1 }, ({ item }) => {
        if (item === 'c' && !isMended) throw new Fatal('broken');
        return item;
      }),
    }),
  });

  /** A run whose third item failed. Its successor may compute another list. */
  async function failed(): Promise<{ world: World; runId: string }> {
    isMended = false;
    const world = new World({ workflows: [sending] });
    const runId = await world.start('sending');
    await world.run();
    expect(assertStored(world.db, runId).status).toBe('failed');
    isMended = true;
    return { world, runId };
  }

  test.each(['resume', 'replay', 'fork'] as const)('%s: the same list completes it', async (mode) => {
    const { world, runId } = await failed();
    const state = await driven(world, mode, runId);
    expect(state.status).toBe('completed');
    expect(await resultOf(world, state)).toEqual({ all: ['a', 'b', 'c'] });
  });

  test.each([
    ['another order', ['b', 'a', 'c'], 'had 3 items, and has 3 others now'],
    ['an item more', ['a', 'b', 'c', 'd'], 'had 3 items, and has 4 now'],
  ])('fails by name where the list has %s', async (_, now, what) => {
    const { world, runId } = await failed();
    items = now;
    const { id, status, error } = await driven(world, 'resume', runId);
    expect(reusedIn(world, id)).toEqual(['all[0]', 'all[1]']);
    expect([status, error?.code, error?.stepId]).toEqual(['failed', 'SET_CHANGED', 'all']);
    expect(error?.message).toContain(what);
  });

  test('detects a change also where the source never made its list', async () => {
    const { world, runId } = await failed();
    items = ['c', 'b', 'a'];
    const second = await driven(world, 'resume', runId);
    expect(second.error?.code).toBe('SET_CHANGED');
    const third = await driven(world, 'resume', second.id);
    expect(third.error?.code).toBe('SET_CHANGED');
    items = ['a', 'b', 'c'];
    expect((await driven(world, 'resume', third.id)).status).toBe('completed');
  });

  test('compares nothing where it reuses no item', async () => {
    const { world, runId } = await failed();
    items = ['x', 'y'];
    const state = await driven(world, 'replay', runId);
    expect(said(world, state.id, 'replay_started')[0]?.marks).toBeUndefined();
    expect(await resultOf(world, state)).toEqual({ all: ['x', 'y'] });
  });
});

test('list marks differ by order, by size and by nesting; another revision is another list', () => {
  const lists = [[], [[]], ['a'], ['a', 'b'], ['b', 'a'], ['ab'], [['a', 'b']], [{ a: 1 }], [null, null]];
  const marks = lists.map((list) => markOf(list));
  expect(new Set(marks).size).toBe(lists.length);
  expect(markOf([{ a: 1, b: 2 }])).toBe(markOf([{ b: 2, a: 1 }]));
  const state = { itemMarks: { all: { revision: 1, items: '3:x' } } };
  expect(listChange(state, { stepId: 'all', revision: 2, items: '3:y' })).toBeUndefined();
  expect(listChange(state, { stepId: 'toString', revision: 1, items: '3:y' })).toBeUndefined();
  expect(listChange(state, { stepId: 'all', revision: 1, items: '3:y' })).toContain('3 others now');
});
