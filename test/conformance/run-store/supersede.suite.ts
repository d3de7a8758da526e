/** Contract of run stores: a start that supersedes another run. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { LoadedRun, RunStore, StartCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, idempotencyRecord, move, T0 } from '../support/run-fixture.ts';
import { loaded } from './runs.ts';

export function supersedeClaims(current: () => Stores): void {
  let stores: Stores;
  let runs: RunStore;
  beforeEach(() => {
    stores = current();
    runs = stores.runs;
  });

  /** A run that has failed. */
  async function ended(): Promise<LoadedRun> {
    const start = beginning('run_1', { identity: { parent: { runId: 'run_0', stepId: 's.1' } } });
    await runs.start(start);
    const error = { code: 'STEP_FAILED', message: 'no', retryable: false };
    const { commit } = move(start.state, [{ type: 'run_failed', initiator: 'system', data: { error } }], {
      snapshot: true,
    });
    await runs.commit(commit);
    return loaded(runs, 'run_1');
  }

  function successor(runId: string, { state, metadata, snapshotVersion: seen }: LoadedRun): StartCommit {
    const event = seal(
      { type: 'run_superseded', initiator: 'user', actor: 'u.ann', data: { by: runId } },
      { chain: state, id: `by ${runId}`, now: T0 + 1_000 },
    ) as RunEvent<'run_superseded'>;
    const record = idempotencyRecord(`k of ${runId}`, { runId });
    return {
      ...beginning(runId, { identity: { resumedFrom: state.id }, records: [{ record }] }),
      supersedes: { event, snapshot: reduce(state, event), metadata, seen },
    };
  }

  describe('a start that supersedes a run', () => {
    test('records that in the journal and the snapshot of that run, in the same commit', async () => {
      const source = await ended();
      const start = successor('run_2', source);
      expect(await runs.start(start)).toMatchObject({ kind: 'committed' });
      const after = await loaded(runs, 'run_1');
      expect(after.state).toEqual(start.supersedes?.snapshot);
      expect(after.state.supersededBy).toBe('run_2');
      expect(after.metadata).toEqual(source.metadata);
      expect(after.snapshotHead).toBe(3);
      expect((await runs.readEvents('run_1', 0, 10)).at(-1)).toEqual(start.supersedes?.event);
      expect((await loaded(runs, 'run_2')).state).toEqual(start.state);
    });

    test('succeeds once among several at the same time, and the others leave nothing', async () => {
      const source = await ended();
      const starts = ['run_2', 'run_3', 'run_4'].map((runId) => successor(runId, source));
      const results = await Promise.all(starts.map((start) => runs.start(start)));
      expect(results.map(({ kind }) => kind).sort()).toEqual(['committed', 'exists', 'exists']);
      const { supersededBy } = (await loaded(runs, 'run_1')).state;
      for (const { state, records } of starts) {
        const there = state.id === supersededBy;
        expect((await runs.load(state.id)) !== undefined).toBe(there);
        const key = records[0]?.record.key ?? '';
        expect((await stores.idempotency.read(key)) !== undefined).toBe(there);
      }
    });

    test('changes nothing if that run was written meanwhile', async () => {
      const source = await ended();
      await runs.touch({ runId: 'run_1', seen: source.snapshotVersion, wakeAt: T0 + 9 });
      expect(await runs.start(successor('run_2', source))).toEqual({ kind: 'exists' });
      expect(await runs.load('run_2')).toBeUndefined();
      expect(await runs.readEvents('run_1', 0, 10)).toHaveLength(2);
      expect(await runs.start(successor('run_2', await loaded(runs, 'run_1')))).toMatchObject({
        kind: 'committed',
      });
    });

    test('gives a run without completion duties no further scan', async () => {
      const source = await ended();
      const metadata = { heartbeat: false, dutiesMet: true } as const;
      await runs.touch({ runId: 'run_1', seen: source.snapshotVersion, metadata });
      await runs.start(successor('run_2', await loaded(runs, 'run_1')));
      const due = await runs.dueRuns(T0 + 86_400_000, 10);
      expect(due.map(({ runId }) => runId)).toEqual(['run_2']);
    });
  });
}
