import { expect, test } from '@jest/globals';
import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import { memoryHarness } from '../support/harness.memory.ts';
import { beginning, claim, move, succeeded, T0 } from '../support/run-fixture.ts';
import { runStoreConformance } from './run-store.suite.ts';

runStoreConformance('memory run store', memoryHarness());

test('the memory run store refuses a journal with a gap, and a journal without a run', async () => {
  const runs = new MemoryRunStore(new MemoryDatabase({ now: () => T0 }));
  const { state, ...rest } = beginning('run_1');
  const { after } = move(state, claim(state, T0 + 1));
  const early = move(after, [succeeded('size')]).commit;
  await expect(runs.commit(early)).rejects.toThrow(/run_1 does not exist/);
  await runs.start({ state, ...rest });
  await expect(runs.commit(early)).rejects.toThrow(/event 4 would leave a gap/);
});

test('a call to the memory run store is applied before it first yields', async () => {
  const runs = new MemoryRunStore(new MemoryDatabase({ now: () => T0 }));
  const { state, ...rest } = beginning('run_1');
  const both = [runs.start({ state, ...rest }), runs.load('run_1')] as const;
  expect((await both[1])?.state).toEqual(state);
  expect(await both[0]).toMatchObject({ kind: 'committed' });
});
