/** A run larger than a document, driven over the real client library and the local Firestore, which refuses documents above 1 MiB. */
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { type BilledWorld, BilledWorlds } from '../cost/billed-world.ts';

const ITEMS = 1_000;
const worlds = new BilledWorlds();
afterAll(() => worlds.close());

test('a large run is undone completely, and reports exactly what was billed, its pages included', async () => {
  let billed: BilledWorld | undefined;
  let undone = 0;
  const undoing = defineWorkflow({
    type: 'undoing',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const all = step.map(
        'all'.padEnd(100, 'x'),
        {
          over: () => Array.from({ length: ITEMS }, (_, i) => i),
          compensate: () => {
            undone += 1;
            // A snapshot is due every 1.25 s.
            if (undone % 100 === 0) billed?.world.clock.jump(1_300);
            throw new Fatal(`503: ${'界'.repeat(400)}`);
          },
        },
        ({ item }) => item,
      );
      return {
        broken: step('broken', { needs: { all } }, (): string => {
          throw new Fatal('broken');
        }),
      };
    },
  });
  billed = await worlds.make({ workflows: [undoing] });
  const world = billed;
  const runId = await world.start('undoing');
  await world.run(() => world.isOver(runId));
  const { reads, writes, deletes } = await world.costOf(runId);
  expect({ reads, writes, deletes }).toEqual(world.billed());
  const loaded = await world.deps.store.load(runId);
  expect(loaded?.state).toMatchObject({ status: 'failed', error: { message: 'broken' } });
  expect(loaded?.state.compensationLog).toHaveLength(ITEMS);
  // Its pages were read.
  expect(loaded?.reads).toBeGreaterThan(4);
});
