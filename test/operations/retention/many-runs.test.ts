import { describe, expect, test } from '@jest/globals';
import { mixed } from './mixed.ts';
import { around, KEPT, type Run, WIDE } from './shelf.ts';

/** Computes the expected runs in another way: by removing deletable runs until none is left. */
function survivors(all: readonly Run[], now: number): string[] {
  const left = new Map(all.map((run) => [run.runId, run]));
  const mayGo = ({
    status = 'completed',
    type = 'review',
    at = 0,
    isHeld,
    parentRunId,
    childRunIds = [],
  }: Run) => {
    const kept = status === 'running' ? undefined : KEPT(type, status);
    if (kept === undefined || isHeld || now - at < kept) return false;
    if (parentRunId !== undefined && left.has(parentRunId)) return false;
    return !childRunIds.some((child) => left.get(child)?.status === 'running');
  };
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const lineages = Map.groupBy(left.values(), ({ rootRunId }) => rootRunId ?? '');
    for (const members of lineages.values())
      if (members.every(mayGo)) for (const { runId } of members) left.delete(runId);
  }
  return [...left.keys()].sort();
}

/** `RETENTION_RUNS=10000` before the command tests more. */
const RUNS = Number(process.env.RETENTION_RUNS ?? 1_000);

describe(`of ${RUNS} runs that ended`, () => {
  test('exactly the due ones are deleted, in bounded ticks, and nothing of a lineage that is needed', async () => {
    const { shelf: one, all } = await mixed(7, RUNS);
    const expected = survivors(all, one.now);
    expect(expected.length).toBeGreaterThan(all.length / 4);
    expect(expected.length).toBeLessThan((all.length * 3) / 4);
    const before = one.documents();
    const most = RUNS;
    const bounds = { ...WIDE, documents: most, runs: most };
    let deleted = 0;
    const count = (n: number) => {
      deleted += n;
    };
    const counted = around(one.store, {
      deleteUnder: async (runId, limit) => counting(await one.store.deleteUnder(runId, limit), count),
      deleteEffects: async (runId, limit) => counting(await one.store.deleteEffects(runId, limit), count),
      deleteRun: async (runId, seen) => {
        count(1);
        return one.store.deleteRun(runId, seen);
      },
    });
    const deps = one.deps(counted);
    const ticks: number[] = [];
    for (let quiet = 0; quiet < 2; ) {
      deleted = 0;
      const { marked, waiting } = await one.tick(bounds, deps);
      ticks.push(deleted);
      // An interrupted tick has not inspected everything, so several form a round.
      const rests = deleted + marked + waiting === 0;
      quiet = rests ? quiet + (one.db.retention.runs === undefined ? 1 : 0) : 0;
      expect(ticks.length).toBeLessThan(500);
    }
    const after = one.documents();
    expect([...after.keys()]).toEqual(expected);
    expect([...after]).toEqual([...before].filter(([runId]) => expected.includes(runId)));
    expect(one.marked()).toEqual([]);
    // Work in progress at the limit may finish: eight lineages of at most five runs.
    expect(Math.max(...ticks)).toBeLessThanOrEqual(most + 8 * 5);
    expect(ticks.filter((n) => n > 0).length).toBeGreaterThan(3);
  });
});

function counting<T extends { readonly deleted: number }>(cleared: T, count: (n: number) => void): T {
  count(cleared.deleted);
  return cleared;
}
