/** Contract of run stores: runs whose state is larger than a document. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { stepCounts } from '../../../packages/cairn/src/core/search/step-counts.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { answers, attempts, failedUndos } from '../support/large-run.ts';
import { beginning, move, release } from '../support/run-fixture.ts';
import { claimed, loaded } from './runs.ts';

export function largeClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    ({ runs } = current());
  });

  /** 1.3 MB of state. */
  async function large(runId: string): Promise<RunState> {
    const claimedState = await claimed(runs, runId);
    const acted = move(claimedState, attempts(0, 250));
    expect(await runs.commit(acted.commit)).toMatchObject({ kind: 'committed' });
    const undone = move(acted.after, failedUndos(0, 280), { snapshot: true });
    expect(await runs.commit(undone.commit)).toMatchObject({ kind: 'committed' });
    return undone.after;
  }

  describe('a run larger than one document', () => {
    test('is read as it was written, with the tail folded over it', async () => {
      const state = await large('run_1');
      expect((await loaded(runs, 'run_1')).state).toEqual(state);
      const more = move(state, attempts(250, 5));
      await runs.commit(more.commit);
      expect(await loaded(runs, 'run_1')).toMatchObject({ state: more.after, snapshotHead: state.head });
    });

    test('is changed by commits and by touches of the version seen', async () => {
      const state = await large('run_1');
      const more = move(state, failedUndos(280, 10));
      await runs.commit(more.commit);
      const { snapshotVersion: seen } = await loaded(runs, 'run_1');
      const touch = { runId: 'run_1', seen, snapshot: more.after, metadata: { heartbeat: true } };
      expect(await runs.touch(touch)).toMatchObject({ kind: 'touched' });
      expect(await runs.touch(touch)).toEqual({ kind: 'stale' });
      const released = move(more.after, [release()], { snapshot: true });
      await runs.commit(released.commit);
      expect(await runs.commit(released.commit)).toEqual({ kind: 'exists' });
      expect((await loaded(runs, 'run_1')).state).toEqual(released.after);
    });

    test('that has become small again is read correctly', async () => {
      const state = await large('run_1');
      const small = move(state, [...answers(0, 250), release()], { snapshot: true });
      await runs.commit(small.commit);
      expect((await loaded(runs, 'run_1')).state).toEqual(small.after);
    });

    test('is in the list of runs', async () => {
      const { tenantId, steps } = await large('run_1');
      const { items } = await runs.listRuns({ tenantId }, { limit: 10 });
      expect(items).toMatchObject([{ state: { id: 'run_1', status: 'running', schemaVersion: 1 } }]);
      expect(items[0]?.stepCounts).toEqual(stepCounts(steps));
    });

    test('reports its costs, including those of its pages', async () => {
      const state = await large('run_1');
      const more = move(state, failedUndos(280, 1), {
        snapshot: true,
        metadata: { heartbeat: false, cost: { writes: 2 } },
      });
      await runs.commit(more.commit);
      const { metadata } = await loaded(runs, 'run_1');
      expect(metadata.cost?.writes).toBeGreaterThanOrEqual(2);
    });

    test('can be superseded', async () => {
      const state = await large('run_1');
      const ended = move(
        state,
        [
          {
            type: 'run_failed',
            initiator: 'system',
            data: { error: { code: 'STEP_FAILED', message: 'no', retryable: false } },
          },
        ],
        { snapshot: true },
      );
      await runs.commit(ended.commit);
      const { metadata, snapshotVersion: seen } = await loaded(runs, 'run_1');
      const draft = { type: 'run_superseded', initiator: 'user', data: { by: 'run_2' } } as const;
      const { after, commit } = move(ended.after, [draft]);
      const event = commit.events[0] as RunEvent<'run_superseded'>;
      const start = { ...beginning('run_2'), supersedes: { event, snapshot: after, metadata, seen } };
      expect(await runs.start(start)).toMatchObject({ kind: 'committed' });
      expect(await runs.start({ ...start, ...beginning('run_3') })).toEqual({ kind: 'exists' });
      expect((await loaded(runs, 'run_1')).state).toEqual(after);
    });
  });
}
