/** Contract of run stores: the scan for due runs and silent runs. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, move, release, T0 } from '../support/run-fixture.ts';
import { claimed, loaded } from './runs.ts';

/** Longer than any of these tests takes by the store's clock. */
const AGES_MS = 1_000_000;

export function dueClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = current().runs;
  });

  async function start(runId: string, at: number): Promise<void> {
    expect(await runs.start(beginning(runId, { at }))).toMatchObject({ kind: 'committed' });
  }

  describe('runs due', () => {
    test('are those whose time has come, the earliest first, up to the limit', async () => {
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

    test('are read page by page, those of the same time by id', async () => {
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

    test('have their workflow, their status, and whether they are blocked', async () => {
      const { state, ...rest } = beginning('run_parked', { at: T0 + 1 });
      await start('run_plain', T0);
      await runs.start({ ...rest, state: { ...state, status: 'waiting_external', parked: 'not deployed' } });
      const type = 'review-pull-request';
      expect(await runs.dueRuns(T0 + 99_000, 10)).toMatchObject([
        // The scan checks it after half a minute, and a run that waits for its task after a minute.
        { runId: 'run_parked', type, status: 'waiting_external', isBlocked: true },
        { runId: 'run_plain', type, status: 'pending', isBlocked: false },
      ]);
    });

    test('have the version that a touch needs to move them out of the window', async () => {
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

    test('are found even if they cannot be decoded', async () => {
      const { state, ...rest } = beginning('run_new');
      await runs.start({ ...rest, state: { ...state, schemaVersion: 99 } });
      expect((await runs.dueRuns(T0 + 99_000, 10)).map(({ runId }) => runId)).toEqual(['run_new']);
    });
  });

  describe('silent runs', () => {
    /** Claims a run and sends a heartbeat. Returns the time of the heartbeat. */
    async function beat(runId: string): Promise<number> {
      await claimed(runs, runId);
      const { snapshotVersion: seen } = await loaded(runs, runId);
      current().passTime(1_000);
      await runs.touch({ runId, seen, metadata: { heartbeat: true, leaseExtendedTo: T0 + AGES_MS } });
      return current().now();
    }
    const idsIn = async (after: number, until: number, limit = 10) =>
      (await runs.silentRuns({ after, until }, limit)).map(({ runId }) => runId);

    test('are those whose last heartbeat is in the window, the longest silence first, up to the limit', async () => {
      const beats: number[] = [];
      for (let i = 0; i < 5; i += 1) beats.push(await beat(`run_${i}`));
      const [first = 0, second = 0, , fourth = 0, last = 0] = beats;
      expect(await idsIn(first - 1, last)).toEqual(['run_0', 'run_1', 'run_2', 'run_3', 'run_4']);
      // The window excludes its older end.
      expect(await idsIn(first, fourth)).toEqual(['run_1', 'run_2', 'run_3']);
      expect(await idsIn(first - 1, last, 2)).toEqual(['run_0', 'run_1']);
      expect(await idsIn(last, last + AGES_MS)).toEqual([]);
      const [found] = await runs.silentRuns({ after: first, until: second }, 1);
      expect(found).toEqual({
        runId: 'run_1',
        lastHeartbeatAt: second,
        isLeased: true,
        type: 'review-pull-request',
        tenantId: (await loaded(runs, 'run_1')).state.tenantId,
      });
    });

    test('show which of them pause between two attempts', async () => {
      const at = await beat('run_1');
      const { state } = await loaded(runs, 'run_1');
      await runs.commit(move(state, [release()], { snapshot: true }).commit);
      expect(await runs.silentRuns({ after: at - 1, until: at }, 1)).toMatchObject([
        { runId: 'run_1', isLeased: false },
      ]);
    });

    test('exclude those that were never driven, or that wait', async () => {
      const begun = beginning('run_new');
      await runs.start(begun);
      const at = await beat('run_1');
      const { state } = await loaded(runs, 'run_1');
      const suspended = {
        type: 'run_suspended',
        initiator: 'system',
        data: { status: 'waiting_external' },
      } as const;
      await runs.commit(move(state, [suspended], { snapshot: true }).commit);
      expect(await idsIn(0, at + AGES_MS)).toEqual([]);
    });
  });
}
