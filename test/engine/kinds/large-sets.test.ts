/** A set whose results are too large together is refused as soon as this is known, before a worker runs out of memory. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { CHECKPOINT_VALUE_BYTES, MAX_PAYLOAD_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const ITEM_BYTES = CHECKPOINT_VALUE_BYTES - 2;
const ITEMS = 1_000;
const CONCURRENCY = 16;
/** Number of results that fit. */
const MOST = Math.floor(MAX_PAYLOAD_BYTES / CHECKPOINT_VALUE_BYTES);

function heavy(onItem: (n: number) => void = () => {}) {
  const text = 'x'.repeat(ITEM_BYTES);
  return defineWorkflow({
    type: 'heavy',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      all: step.map(
        'all',
        { concurrency: CONCURRENCY, over: () => Array.from({ length: ITEMS }, (_, n) => n) },
        ({ item }) => {
          onItem(item);
          return text;
        },
      ),
    }),
  });
}

test('no item begins after the results exceed the limit, and the step fails by name', async () => {
  let begun = 0;
  const world = new World({ workflows: [heavy(() => begun++)] });
  const id = await world.start('heavy');
  await world.run(() => world.db.runs.get(id)?.snapshot.status === 'failed');
  expect(assertStored(world.db, id).error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', stepId: 'all' });
  expect(begun).toBeLessThanOrEqual(MOST + 1 + CONCURRENCY);
});

test('a drive that takes over reads no more results than fit', async () => {
  const world = new World({ workflows: [heavy()] });
  const id = await world.start('heavy');
  // An earlier drive recorded all its items, and died before it recorded the end of the step.
  let dead = false;
  const deps = {
    ...world.deps,
    store: intercept(world.store, ({ method, args }, proceed) => {
      const [commit] = args as [{ events?: readonly { type: string }[] }];
      dead ||= method === 'commit' && (commit.events ?? []).some(({ type }) => type === 'step_failed');
      return dead ? new Promise(() => {}) : proceed();
    }),
  };
  void world.run(() => dead, deps);
  for (let turn = 0; !dead && turn < 10_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(dead).toBe(true);
  let read = 0;
  const store = intercept(world.store, async ({ method, args }, proceed) => {
    if (method === 'readCheckpoints') read += (args[1] as readonly number[]).length;
    return proceed();
  });
  await world.run(() => world.db.runs.get(id)?.snapshot.status === 'failed', { ...world.deps, store });
  expect(assertStored(world.db, id).error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', stepId: 'all' });
  expect(read).toBeLessThanOrEqual(MOST + 100);
});
