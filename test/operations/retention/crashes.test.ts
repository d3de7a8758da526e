import { describe, expect, test } from '@jest/globals';
import type { RetentionStore } from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import { intercept } from '../../support/intercept.ts';
import { mixed } from './mixed.ts';
import { DAY, type Run, Shelf, TICK_MS, WIDE } from './shelf.ts';

/** Small limits, so that a tick may end in the middle of a lineage. */
const BOUNDS = { ...WIDE, documents: 60, owners: 3 };

const RUNS: readonly Run[] = [
  { runId: 'run_p', effects: 1, hasMemo: true },
  { runId: 'run_c', parentRunId: 'run_p', effects: 2 },
  { runId: 'run_a', rootRunId: 'run_a', status: 'cancelled', effects: 2, hasPayload: true },
  { runId: 'run_b', rootRunId: 'run_a', status: 'cancelled', effects: 1, steps: 12 },
  { runId: 'run_l', rootRunId: 'run_k', status: 'running', effects: 1 },
  { runId: 'run_m', rootRunId: 'run_k', effects: 1, hasMemo: true },
  { runId: 'run_h', isHeld: true, hasPayload: true },
];
const KEPT_RUNS = ['run_h', 'run_l', 'run_m'];

async function stage(): Promise<Shelf> {
  const shelf = new Shelf();
  for (const run of RUNS) await shelf.put(run);
  await shelf.runs.writePayload('run_0', '"left behind"');
  shelf.now += 8 * DAY;
  return shelf;
}

/** Invariants at any time, however a tick ended. */
function assertSound(shelf: Shelf, before: ReadonlyMap<string, string>): void {
  for (const [runId, documents] of shelf.documents()) {
    const [own, under, rows] = documents.split('/').map(Number);
    // A run without a run document has no other documents, because nothing would find them.
    if (own === 0 && runId !== 'run_0') expect([runId, under, rows]).toEqual([runId, 0, 0]);
  }
  for (const runId of KEPT_RUNS)
    expect([runId, shelf.documents().get(runId)]).toEqual([runId, before.get(runId)]);
  // The ledger of a lineage is deleted last, when nothing can read it any more.
  const lineage = ['run_a', 'run_b'].map((runId) =>
    (shelf.documents().get(runId) ?? '0/0/0').split('/').map(Number),
  );
  const under = lineage.reduce((sum, [, one = 0]) => sum + one, 0);
  const rows = lineage.reduce((sum, [, , one = 0]) => sum + one, 0);
  if (rows < 3) expect(under).toBe(0);
}

describe('a tick that dies at any call of the store', () => {
  let calls = 0;
  const counted = (store: RetentionStore) =>
    intercept(store, (_call, proceed) => {
      calls += 1;
      return proceed();
    });

  test('is completed by the next ticks, with the same result', async () => {
    const undisturbed = await stage();
    const before = undisturbed.documents();
    await undisturbed.settle(BOUNDS, undisturbed.deps(counted(undisturbed.store)));
    expect([...undisturbed.documents().keys()]).toEqual(KEPT_RUNS);
    const total = calls;
    expect(total).toBeGreaterThan(80);

    for (let at = 1; at <= total; at += 1) {
      for (const isApplied of [false, true]) {
        const shelf = await stage();
        let made = 0;
        /** All calls fail from that call on, until the end of the tick. */
        const dying = intercept(shelf.store, async (_call, proceed) => {
          made += 1;
          if (made < at) return proceed();
          if (made === at && isApplied) await proceed();
          throw new Error('the process died');
        });
        while (made < at) {
          const ticked = shelf.tick(BOUNDS, shelf.deps(dying)).catch(() => {
            shelf.now += TICK_MS;
          });
          await ticked;
          assertSound(shelf, before);
        }
        await shelf.settle(BOUNDS);
        assertSound(shelf, before);
        expect([...shelf.documents().keys()]).toEqual(KEPT_RUNS);
        expect(shelf.marked()).toEqual([]);
      }
    }
  });
});

test('two concurrent ticks in any interleaving have the result of one', async () => {
  for (let seed = 1; seed <= 15; seed += 1) {
    const { shelf } = await mixed(seed, 40);
    const { shelf: alone } = await mixed(seed, 40);
    await alone.settle();
    let turn = seed;
    /** Every call has its own duration, so that the two ticks drift apart. */
    const slow = intercept(shelf.store, async (_call, proceed) => {
      turn = (turn * 48_271) % 2_147_483_647;
      for (let wait = turn % 5; wait > 0; wait -= 1) await Promise.resolve();
      return proceed();
    });
    for (let round = 0; round < 12; round += 1) {
      await Promise.all([shelf.tick(WIDE, shelf.deps(slow)), shelf.tick(WIDE, shelf.deps(slow))]);
    }
    expect([...shelf.documents()]).toEqual([...alone.documents()]);
    expect(shelf.marked()).toEqual([]);
  }
});
