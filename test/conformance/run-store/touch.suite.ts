/** Contract of run stores: snapshot writes without an event, and `wakeAt`. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { wakeAt } from '../../../packages/cairn/src/core/run/wake.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, claim, move, release, succeeded, T0 } from '../support/run-fixture.ts';
import { claimed, LEASE_MS, loaded } from './runs.ts';

export function touchClaims(current: () => Stores): void {
  let stores: Stores;
  let runs: RunStore;
  beforeEach(() => {
    stores = current();
    runs = stores.runs;
  });

  describe('touch', () => {
    test('writes the snapshot of the version seen, without an event', async () => {
      const state = await claimed(runs, 'run_1');
      const { after, commit } = move(state, [succeeded('size')]);
      await runs.commit(commit);
      const seen = (await loaded(runs, 'run_1')).snapshotVersion;
      const touched = await runs.touch({ runId: 'run_1', seen, snapshot: after });
      const run = await loaded(runs, 'run_1');
      expect(touched).toEqual({ kind: 'touched', snapshotVersion: run.snapshotVersion });
      expect(run).toMatchObject({ state: after, snapshotHead: after.head });
      expect(run.snapshotVersion).not.toBe(seen);
    });

    test('of a version other than the current one is stale and writes nothing', async () => {
      const state = await claimed(runs, 'run_1');
      const seen = (await loaded(runs, 'run_1')).snapshotVersion;
      await runs.touch({ runId: 'run_1', seen, wakeAt: T0 + 1_000 });
      const now = await loaded(runs, 'run_1');
      expect(await runs.touch({ runId: 'run_1', seen, metadata: { heartbeat: true } })).toEqual({
        kind: 'stale',
      });
      expect(await runs.touch({ runId: 'run_none', seen, wakeAt: T0 })).toEqual({ kind: 'stale' });
      const { after, commit } = move(state, [release()], { snapshot: true });
      await runs.commit(commit);
      expect(await runs.touch({ runId: 'run_1', seen: now.snapshotVersion, snapshot: state })).toEqual({
        kind: 'stale',
      });
      expect((await loaded(runs, 'run_1')).state).toEqual(after);
    });

    test('sets the heartbeat to the time of the store and keeps the rest of metadata', async () => {
      const state = await claimed(runs, 'run_1');
      const first = await loaded(runs, 'run_1');
      stores.passTime(30_000);
      const at = stores.now();
      await runs.touch({
        runId: 'run_1',
        seen: first.snapshotVersion,
        metadata: { heartbeat: true, leaseExtendedTo: T0 + 9_000_000 },
      });
      expect((await loaded(runs, 'run_1')).metadata).toEqual({
        lastHeartbeatAt: at,
        leaseExtendedTo: T0 + 9_000_000,
      });

      stores.passTime(30_000);
      const second = await loaded(runs, 'run_1');
      expect(second.readAt).toBe(at + 30_000);
      await runs.touch({ runId: 'run_1', seen: second.snapshotVersion, metadata: { heartbeat: true } });
      expect((await loaded(runs, 'run_1')).metadata).toEqual({
        lastHeartbeatAt: at + 30_000,
        leaseExtendedTo: T0 + 9_000_000,
      });

      const { commit } = move(state, [succeeded('size')], { snapshot: true });
      await runs.commit(commit);
      expect((await loaded(runs, 'run_1')).metadata).toEqual({
        lastHeartbeatAt: at + 30_000,
        leaseExtendedTo: T0 + 9_000_000,
      });
    });

    test('adds costs to the stored ones, with or without a snapshot, only if it is applied', async () => {
      const begun = beginning('run_1');
      await runs.start({ ...begun, metadata: { firstEventId: 'e', cost: { writes: 3 } } });
      const costNow = async () => (await loaded(runs, 'run_1')).metadata.cost;
      expect(await costNow()).toEqual({ writes: 3 });
      const seen = (await loaded(runs, 'run_1')).snapshotVersion;
      const spent = { heartbeat: false, cost: { reads: 2, writes: 1, tasks: 1 } } as const;
      await runs.touch({ runId: 'run_1', seen, wakeAt: T0 + 1_000, metadata: spent });
      expect(await costNow()).toEqual({ reads: 2, writes: 4, tasks: 1 });
      expect(await runs.touch({ runId: 'run_1', seen, wakeAt: T0, metadata: spent })).toEqual({
        kind: 'stale',
      });
      const { commit } = move(begun.state, claim(begun.state, T0 + LEASE_MS), {
        snapshot: true,
        metadata: spent,
      });
      await runs.commit(commit);
      expect((await runs.commit(commit)).kind).toBe('exists');
      expect(await costNow()).toEqual({ reads: 4, writes: 5, tasks: 2 });
      expect((await loaded(runs, 'run_1')).metadata.firstEventId).toBe('e');
    });

    test('that would write nothing is refused', async () => {
      await claimed(runs, 'run_1');
      const { snapshotVersion: seen } = await loaded(runs, 'run_1');
      await expect(runs.touch({ runId: 'run_1', seen, metadata: { heartbeat: false } })).rejects.toThrow(
        /writes nothing/,
      );
    });
  });

  describe('wakeAt', () => {
    const wakesOf = async () => (await runs.dueRuns(T0 + 1e12, 100)).map(({ wakeAt: at }) => at);

    test('is what state and metadata imply after every kind of write', async () => {
      const start = beginning('run_1');
      await runs.start(start);
      expect(await wakesOf()).toEqual([wakeAt(start.state)]);

      const held = move(start.state, claim(start.state, T0 + LEASE_MS), {
        snapshot: true,
        metadata: { heartbeat: true, leaseExtendedTo: T0 + LEASE_MS + 7 },
      });
      await runs.commit(held.commit);
      expect(await wakesOf()).toEqual([T0 + LEASE_MS + 7]);

      const extended = await loaded(runs, 'run_1');
      await runs.touch({
        runId: 'run_1',
        seen: extended.snapshotVersion,
        metadata: { heartbeat: true, leaseExtendedTo: T0 + 999_999 },
      });
      expect(await wakesOf()).toEqual([T0 + 999_999]);

      const moved = await loaded(runs, 'run_1');
      await runs.touch({ runId: 'run_1', seen: moved.snapshotVersion, wakeAt: T0 + 2_000_000 });
      expect(await wakesOf()).toEqual([T0 + 2_000_000]);

      const free = move(held.after, [release()], { snapshot: true });
      await runs.commit(free.commit);
      expect(await wakesOf()).toEqual([wakeAt(free.after)]);

      const over = move(
        free.after,
        [{ type: 'run_completed', data: { result: { text: '1' } }, initiator: 'system' }],
        { snapshot: true },
      );
      await runs.commit(over.commit);
      expect(await wakesOf()).toEqual([]);
    });
  });
}
