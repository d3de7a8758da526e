/** Contract of run stores: commits. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { move, release, succeeded, T0 } from '../support/run-fixture.ts';
import { claimed, loaded } from './runs.ts';

export function commitClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = current().runs;
  });

  describe('commit', () => {
    test('without a snapshot appends to the journal only, and a load folds the tail', async () => {
      const state = await claimed(runs, 'run_1');
      const before = await loaded(runs, 'run_1');
      const one = move(state, [succeeded('size')], { at: T0 + 10 });
      const two = move(one.after, [succeeded('risk'), succeeded('labels', { itemKey: 'a b:[%]\n🪨/' })], {
        at: T0 + 20,
      });
      expect(await runs.commit(one.commit)).toEqual({ kind: 'committed' });
      expect(await runs.commit(two.commit)).toEqual({ kind: 'committed' });
      const run = await loaded(runs, 'run_1');
      expect(run.state).toEqual(two.after);
      expect(run.snapshotHead).toBe(state.head);
      expect(run.snapshotVersion).toBe(before.snapshotVersion);
    });

    test('with a snapshot writes it at the new head, and drops members that lost their value', async () => {
      const state = await claimed(runs, 'run_1');
      const { after, commit } = move(state, [succeeded('size'), release()], { snapshot: true });
      const result = await runs.commit(commit);
      const run = await loaded(runs, 'run_1');
      expect(run.state).toEqual(after);
      expect(run.state.lease).toBeUndefined();
      expect(run.snapshotHead).toBe(after.head);
      expect(result).toEqual({ kind: 'committed', snapshotVersion: run.snapshotVersion });
    });

    test('at a sequence number that is taken changes nothing', async () => {
      const state = await claimed(runs, 'run_1');
      const ours = move(state, [succeeded('size')], { by: 'us' });
      const theirs = move(state, [succeeded('risk'), release()], { by: 'them', snapshot: true });
      expect(await runs.commit(ours.commit)).toMatchObject({ kind: 'committed' });
      expect(await runs.commit(theirs.commit)).toEqual({ kind: 'exists' });
      expect(await loaded(runs, 'run_1')).toMatchObject({ state: ours.after, snapshotHead: state.head });
      expect(await runs.readEvents('run_1', state.head, 10)).toEqual(ours.commit.events);
      expect((await runs.listSteps('run_1', { limit: 10 })).items.map(({ id }) => id)).toEqual(['size']);
      expect((await runs.listCheckpoints('run_1', { limit: 10 })).items.map(({ seq }) => seq)).toEqual([
        3, 4,
      ]);
    });

    test('that overlaps the journal with only its first event changes nothing', async () => {
      const state = await claimed(runs, 'run_1');
      const ours = move(state, [succeeded('size')]);
      await runs.commit(ours.commit);
      const longer = move(state, [succeeded('size'), succeeded('risk')], { by: 'them' });
      expect(await runs.commit(longer.commit)).toEqual({ kind: 'exists' });
      expect((await loaded(runs, 'run_1')).state.head).toBe(ours.after.head);
    });

    test('sent again with the same bytes is refused, and the journal has its events once', async () => {
      const state = await claimed(runs, 'run_1');
      const { after, commit } = move(state, [succeeded('size')], { snapshot: true });
      await runs.commit(commit);
      expect(await runs.commit(commit)).toEqual({ kind: 'exists' });
      expect((await runs.readEvents('run_1', state.head, 10)).map(({ id }) => id)).toEqual([
        commit.events[0]?.id,
      ]);
      expect((await loaded(runs, 'run_1')).state).toEqual(after);
    });

    test('by many writers at one sequence number succeeds exactly once', async () => {
      const state = await claimed(runs, 'run_1');
      const writers = Array.from({ length: 20 }, (_, i) =>
        move(state, [succeeded(`s${i}`)], { by: `w${i}` }),
      );
      const results = await Promise.all(writers.map(({ commit }) => runs.commit(commit)));
      expect(results.filter(({ kind }) => kind === 'committed')).toHaveLength(1);
      const winner = writers[results.findIndex(({ kind }) => kind === 'committed')];
      expect((await loaded(runs, 'run_1')).state).toEqual(winner?.after);
    });

    test('replaces the record of a step that ran before', async () => {
      const state = await claimed(runs, 'run_1');
      const error = { code: 'E', message: 'boom', retryable: true };
      const { data } = succeeded('size') as { data: Parameters<typeof succeeded>[1] & object };
      const failed = move(state, [
        {
          type: 'step_retry_scheduled',
          data: { ...(data as object), retryAt: T0 + 5, error } as never,
          initiator: 'system',
        },
      ]);
      await runs.commit(failed.commit);
      expect((await runs.listSteps('run_1', { limit: 10 })).items).toMatchObject([
        { status: 'pending', errorTrace: 'E: boom' },
      ]);
      const done = move(failed.after, [succeeded('size', { attempt: 2 })]);
      await runs.commit(done.commit);
      const { items } = await runs.listSteps('run_1', { limit: 10 });
      expect(items).toEqual(done.commit.steps);
      expect(items[0]).not.toHaveProperty('errorTrace');
    });

    test('that only a bug can cause is refused with nothing applied', async () => {
      const state = await claimed(runs, 'run_1');
      const { after, commit } = move(state, [succeeded('size'), succeeded('risk')], { snapshot: true });
      const flood = Array.from({ length: 120 }, (_, i) => succeeded(`s${i}`));
      const huge = succeeded('huge', { outputText: JSON.stringify('x'.repeat(7 * 1024 * 1024)) });
      const { snapshot: _, ...withoutSnapshot } = commit;
      const unsound = [
        { ...commit, events: [] },
        { ...commit, events: [...commit.events].reverse() },
        { ...commit, snapshot: { ...after, head: after.head + 1 } },
        { ...withoutSnapshot, metadata: { heartbeat: true } },
        move(state, flood).commit,
        move(state, [huge]).commit,
      ];
      for (const wrong of unsound) await expect(runs.commit(wrong)).rejects.toThrow(/run run_1/);
      expect((await loaded(runs, 'run_1')).state).toEqual(state);
    });
  });
}
