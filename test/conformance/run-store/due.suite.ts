/** Contract of run stores: the scan for due runs. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, T0 } from '../support/run-fixture.ts';

export function dueClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = current().runs;
  });

  async function start(runId: string, at: number): Promise<void> {
    expect(await runs.start(beginning(runId, { at }))).toMatchObject({ kind: 'committed' });
  }

  describe('runs due', () => {
    test('are those whose time has come, the earliest first, at most as many as asked for', async () => {
      const grace = 60_000;
      // Far more than one per shard, in no order.
      const order = Array.from({ length: 40 }, (_, i) => (i * 17) % 40);
      for (const i of order) await start(`run_${i}`, T0 + i);
      const due = await runs.dueRuns(T0 + grace + 9, 100);
      expect(due.map(({ runId, wakeAt }) => [runId, wakeAt])).toEqual(
        Array.from({ length: 10 }, (_, i) => [`run_${i}`, T0 + grace + i]),
      );
      expect(await runs.dueRuns(T0 + grace + 99, 3)).toEqual(due.slice(0, 3));
      expect(await runs.dueRuns(T0, 100)).toEqual([]);
    });

    test('are read page after page, those of one time by id', async () => {
      for (const i of [3, 1, 2, 0]) await start(`run_${i}`, T0);
      await start('run_before', T0 - 1);
      const now = T0 + 99_000;
      const pages = [];
      for (
        let page = await runs.dueRuns(now, 2);
        page.length > 0;
        page = await runs.dueRuns(now, 2, page.at(-1))
      )
        pages.push(page.map(({ runId }) => runId));
      expect(pages).toEqual([['run_before', 'run_0'], ['run_1', 'run_2'], ['run_3']]);
    });

    test('tell their workflow, their status, and whether they are parked', async () => {
      const { state, ...rest } = beginning('run_parked', { at: T0 + 1 });
      await start('run_plain', T0);
      await runs.start({ ...rest, state: { ...state, status: 'waiting_external', parked: 'not deployed' } });
      const type = 'review-pull-request';
      expect(await runs.dueRuns(T0 + 99_000, 10)).toMatchObject([
        // It is looked at after half a minute, a run that waits for its task after a whole one.
        { runId: 'run_parked', type, status: 'waiting_external', parked: true },
        { runId: 'run_plain', type, status: 'pending', parked: false },
      ]);
    });

    test('carry the version that a touch needs to move them out of the window', async () => {
      await start('run_1', T0);
      const [due] = await runs.dueRuns(T0 + 99_000, 10);
      if (!due) throw new Error('nothing is due');
      expect(due.snapshotVersion).toBe((await runs.load('run_1'))?.snapshotVersion);
      const later = T0 + 500_000;
      expect(await runs.touch({ runId: 'run_1', seen: due.snapshotVersion, wakeAt: later })).toMatchObject({
        kind: 'touched',
      });
      expect(await runs.dueRuns(T0 + 99_000, 10)).toEqual([]);
      expect(await runs.touch({ runId: 'run_1', seen: due.snapshotVersion, wakeAt: later })).toEqual({
        kind: 'stale',
      });
    });

    test('are found though nobody could decode them', async () => {
      const { state, ...rest } = beginning('run_new');
      await runs.start({ ...rest, state: { ...state, schemaVersion: 99 } });
      expect((await runs.dueRuns(T0 + 99_000, 10)).map(({ runId }) => runId)).toEqual(['run_new']);
    });
  });
}
