import { expect, test } from '@jest/globals';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { flowWorkflow } from './one-flow.ts';

const LENGTH = 250;

/** A flow that rests after 250 operations, and continues with this store. */
async function goesOn(store: (store: RunStore) => RunStore) {
  let bodies = 0;
  const workflow = flowWorkflow(async (flow) => {
    let sum = 0;
    for (let i = 0; i < LENGTH; i += 1) {
      sum += await flow.step('turn', () => {
        bodies += 1;
        return i;
      });
    }
    await flow.sleep('pause', '1h');
    return sum;
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  await world.run(
    () => assertStored(world.db, runId, Number.POSITIVE_INFINITY).status === 'waiting_external',
  );
  await world.run(undefined, { ...world.deps, store: store(world.deps.store) });
  expect(bodies).toBe(LENGTH);
  return assertStored(world.db, runId);
}

test('a resumed flow reads each recorded result once, the next hundred before it needs them', async () => {
  const batches: number[][] = [];
  const state = await goesOn((store) =>
    intercept(store, async ({ method, args }, proceed) => {
      if (method === 'readCheckpoints') batches.push([...(args[1] as readonly number[])]);
      return proceed();
    }),
  );
  expect(state).toMatchObject({
    status: 'completed',
    result: { text: `{"out":${(LENGTH * (LENGTH - 1)) / 2}}` },
  });
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(new Set(batches.flat()).size).toBe(LENGTH);
});

test('a resumed flow reads again what could not be read ahead', async () => {
  let reads = 0;
  const state = await goesOn((store) =>
    intercept(store, async ({ method }, proceed) => {
      if (method !== 'readCheckpoints') return proceed();
      reads += 1;
      if (reads === 2) throw new Error('no answer');
      return proceed();
    }),
  );
  expect(state.status).toBe('completed');
  expect(reads).toBe(4);
});
