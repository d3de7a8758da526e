/** Contract of run statistics. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import type { DueEntry } from '../../../packages/cairn/src/ports/run-statistics.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

/** Time after which the scan checks an unclaimed run. */
const GRACE_MS = 60_000;

export function runStatisticsConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());

    async function start(runId: string, identity: Partial<RunIdentity> = {}, at = T0): Promise<void> {
      expect(await stores.runs.start(beginning(runId, { at, identity }))).toMatchObject({
        kind: 'committed',
      });
    }

    /** Ends a run directly after its start. */
    async function end(runId: string): Promise<void> {
      const loaded = await stores.runs.load(runId);
      if (!loaded) throw new Error(`run ${runId} is not there`);
      const error = { code: 'X', message: 'x', retryable: false };
      const { commit } = move(
        loaded.state,
        [...claim(loaded.state, T0 + 1_000), { type: 'run_failed', data: { error }, initiator: 'system' }],
        { snapshot: true },
      );
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
    }

    test('tenants with runs are listed once each, in order, including those whose runs have ended', async () => {
      expect(await stores.statistics.tenants(10)).toEqual([]);
      for (const [runId, tenantId] of [
        ['run_1', 'b'],
        ['run_2', 'a'],
        ['run_3', 'b'],
        ['run_4', 'a.b'],
        ['run_5', 'B'],
      ] as const)
        await start(runId, { tenantId }, T0 + Number(runId.at(-1)));
      await end('run_2');
      expect(await stores.statistics.tenants(10)).toEqual(['B', 'a', 'a.b', 'b']);
      expect(await stores.statistics.tenants(2)).toEqual(['B', 'a']);
    });

    describe('versions with live runs', () => {
      test('are counted by type and version, in that order', async () => {
        const runs: [string, string, number][] = [
          ['run_1', 'deploy', 2],
          ['run_2', 'deploy', 10],
          ['run_3', 'clean-up', 1],
          ['run_4', 'deploy', 2],
          ['run_5', 'deploy', 10],
          ['run_6', 'deploy', 10],
          ['run_7', 'deploy-all', 1],
        ];
        for (const [runId, type, planVersion] of runs) await start(runId, { type, planVersion });
        const all = [
          { type: 'clean-up', planVersion: 1, runs: 1 },
          { type: 'deploy', planVersion: 2, runs: 2 },
          { type: 'deploy', planVersion: 10, runs: 3 },
          { type: 'deploy-all', planVersion: 1, runs: 1 },
        ];
        expect(await stores.statistics.liveVersions('acme', 100)).toEqual(all);
        expect(await stores.statistics.liveVersions('acme', 2)).toEqual(all.slice(0, 2));
      });

      test('do not count ended runs, and count every other status', async () => {
        for (const runId of ['run_1', 'run_2', 'run_3']) await start(runId, { type: 'deploy' });
        await start('run_4', { type: 'over' });
        await end('run_2');
        await end('run_4');
        const loaded = await stores.runs.load('run_3');
        if (!loaded) throw new Error('run_3 is not there');
        const { commit } = move(loaded.state, claim(loaded.state, T0 + 1_000), { snapshot: true });
        await stores.runs.commit(commit);
        expect(await stores.statistics.liveVersions('acme', 100)).toEqual([
          { type: 'deploy', planVersion: 1, runs: 2 },
        ]);
      });

      test('are those of one tenant', async () => {
        await start('run_1', { tenantId: 'other' });
        expect(await stores.statistics.liveVersions('acme', 100)).toEqual([]);
        expect(await stores.statistics.liveVersions('other', 100)).toHaveLength(1);
      });
    });

    describe('active runs', () => {
      const counts = async (tenantId: string) =>
        Object.fromEntries(
          (await stores.statistics.activeRuns(tenantId)).map(({ status, runs }) => [status, runs]),
        );
      const none = {
        pending: 0,
        running: 0,
        replaying: 0,
        awaiting_approval: 0,
        waiting_external: 0,
        interrupted: 0,
      };

      test('are counted by status, without those that have ended', async () => {
        expect(await counts('acme')).toEqual(none);
        for (const runId of ['run_1', 'run_2', 'run_3', 'run_4']) await start(runId);
        await end('run_2');
        const loaded = await stores.runs.load('run_3');
        if (!loaded) throw new Error('run_3 is not there');
        const { commit } = move(loaded.state, claim(loaded.state, T0 + 1_000), { snapshot: true });
        await stores.runs.commit(commit);
        expect(await counts('acme')).toEqual({ ...none, pending: 2, running: 1 });
      });

      test('are those of one tenant', async () => {
        await start('run_1', { tenantId: 'other' });
        expect(await counts('acme')).toEqual(none);
        expect(await counts('other')).toEqual({ ...none, pending: 1 });
      });
    });

    describe('runs due soon', () => {
      test('are listed earliest first, of all tenants and types', async () => {
        await start('run_b', { type: 'two', tenantId: 'other' }, T0 + 2);
        await start('run_a', { type: 'one' }, T0 + 3);
        await start('run_c', { type: 'one' }, T0 + 1);
        const due = await stores.statistics.due({ until: T0 + GRACE_MS + 2, limit: 10 });
        expect(due).toEqual([
          { runId: 'run_c', tenantId: 'acme', type: 'one', wakeAt: T0 + GRACE_MS + 1 },
          { runId: 'run_b', tenantId: 'other', type: 'two', wakeAt: T0 + GRACE_MS + 2 },
        ]);
      });

      test('are those of one type, if one is named', async () => {
        await start('run_a', { type: 'one' });
        await start('run_b', { type: 'two' });
        const due = await stores.statistics.due({ until: T0 + GRACE_MS, type: 'two', limit: 10 });
        expect(due.map(({ runId }) => runId)).toEqual(['run_b']);
      });

      test('exclude runs that have ended', async () => {
        await start('run_a');
        await end('run_a');
        expect(await stores.statistics.due({ until: T0 + 999_999_999, limit: 10 })).toEqual([]);
      });

      test.each([undefined, 'one'])(
        'are listed page by page, each once, though many have the same time (%s)',
        async (type) => {
          const runIds = Array.from({ length: 23 }, (_, i) => `run_${String((i * 7) % 23).padStart(2, '0')}`);
          for (const [i, runId] of runIds.entries()) await start(runId, { type: 'one' }, T0 + (i % 3));
          const found: DueEntry[] = [];
          for (;;) {
            const after = found.at(-1);
            const page = await stores.statistics.due({
              until: T0 + GRACE_MS + 9,
              limit: 5,
              ...(type === undefined ? {} : { type }),
              ...(after ? { after } : {}),
            });
            found.push(...page);
            if (page.length < 5) break;
          }
          expect(found.map(({ runId }) => runId).sort()).toEqual([...runIds].sort());
          expect(found.map(({ wakeAt }) => wakeAt)).toEqual(found.map(({ wakeAt }) => wakeAt).sort());
        },
      );
    });
  });
}
