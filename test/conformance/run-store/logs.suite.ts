/** Contract of run stores and log stores: lines of bodies are written with the snapshot. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { LogLine } from '../../../packages/cairn/src/core/logs/line.ts';
import { type LogUpdate, segmentId } from '../../../packages/cairn/src/core/logs/segment.ts';
import type { Stores } from '../support/harness.ts';
import { move, succeeded } from '../support/run-fixture.ts';
import { claimed, loaded } from './runs.ts';

const line = (message: string): LogLine => ({
  kind: 'log',
  at: 1_700_000_000_000,
  level: 'warn',
  step: 'a[1]',
  revision: 1,
  attempt: 2,
  message,
  fields: { half: '\ud83e', deep: [[1]], __proto__x: null },
});
const logged = (number: number, ...messages: string[]): LogUpdate => ({
  segment: { id: segmentId(1, number), lines: messages.map(line) },
  totals: { lines: messages.length, bytes: 10, dropped: number },
});

export function logClaims(current: () => Stores): void {
  describe('lines that bodies logged', () => {
    let stores: Stores;
    beforeEach(() => {
      stores = current();
    });
    const touch = async (update: LogUpdate) => {
      const seen = (await loaded(stores.runs, 'run_1')).snapshotVersion;
      return stores.runs.touch({ runId: 'run_1', seen, metadata: { heartbeat: true, logged: update } });
    };

    test('are read in the order of their documents, from any document on', async () => {
      const state = await claimed(stores.runs, 'run_1');
      await touch(logged(1, 'one', 'two'));
      const { commit } = move(state, [succeeded('size')], { snapshot: true });
      await stores.runs.commit({ ...commit, metadata: { heartbeat: true, logged: logged(2, 'three') } });
      const [first, second] = [logged(1, 'one', 'two').segment, logged(2, 'three').segment];
      expect(await stores.logs.readLogs('run_1', undefined, 10)).toEqual([first, second]);
      expect(await stores.logs.readLogs('run_1', undefined, 1)).toEqual([first]);
      expect(await stores.logs.readLogs('run_1', second?.id, 10)).toEqual([second]);
      expect(await stores.logs.readLogs('run_1', segmentId(2, 1), 10)).toEqual([]);
      expect(await stores.logs.readLogs('run_2', undefined, 10)).toEqual([]);
    });

    test('are counted in the volatile metadata of the run', async () => {
      await claimed(stores.runs, 'run_1');
      expect((await loaded(stores.runs, 'run_1')).metadata.logs).toBeUndefined();
      await touch(logged(1, 'one'));
      await touch({ totals: { lines: 1, bytes: 10, dropped: 5 } });
      expect((await loaded(stores.runs, 'run_1')).metadata.logs).toEqual({ lines: 1, bytes: 10, dropped: 5 });
      expect(await stores.logs.readLogs('run_1', undefined, 10)).toHaveLength(1);
    });

    test('may be written again with more lines', async () => {
      await claimed(stores.runs, 'run_1');
      await touch(logged(1, 'one'));
      await touch(logged(1, 'one', 'two'));
      expect(await stores.logs.readLogs('run_1', undefined, 10)).toEqual([logged(1, 'one', 'two').segment]);
    });

    test('are not written by a refused commit or touch', async () => {
      const state = await claimed(stores.runs, 'run_1');
      const { snapshotVersion } = await loaded(stores.runs, 'run_1');
      const { commit } = move(state, [succeeded('size')], { snapshot: true });
      await stores.runs.commit(commit);
      const metadata = { heartbeat: true, logged: logged(1, 'lost') };
      expect(await stores.runs.commit({ ...commit, metadata })).toEqual({ kind: 'exists' });
      expect(await stores.runs.touch({ runId: 'run_1', seen: snapshotVersion, metadata })).toEqual({
        kind: 'stale',
      });
      expect(await stores.logs.readLogs('run_1', undefined, 10)).toEqual([]);
    });

    test('are deleted with the run', async () => {
      await claimed(stores.runs, 'run_1');
      await touch(logged(1, 'one'));
      for (let more = true; more; ) ({ more } = await stores.retention.deleteUnder('run_1', 100));
      expect(await stores.logs.readLogs('run_1', undefined, 10)).toEqual([]);
    });
  });
}
