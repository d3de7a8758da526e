/** Contract of run finders: ordered lists and their pages. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventDraft, RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import { matchOf } from '../../../packages/cairn/src/core/search/match.ts';
import { RUN_ORDERS, sortedBy } from '../../../packages/cairn/src/core/search/order.ts';
import { sortedRuns } from '../../../packages/cairn/src/operations/search/sorted-runs.ts';
import type { ListedRun, RunFilter } from '../../../packages/cairn/src/ports/run-store.ts';
import type { IndexedOrder } from '../../../packages/cairn/src/ports/runs/run-finder.ts';
import { opened, questionOf } from '../../core/run/journal-drafts.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

const SUSPENDED: EventDraft = {
  type: 'run_suspended',
  initiator: 'system',
  data: { status: 'awaiting_approval', announced: true },
};
const FAILED: EventDraft = {
  type: 'run_failed',
  initiator: 'system',
  data: { error: { code: 'X', message: 'x', retryable: false } },
};

export function runOrdersConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());

    async function start(runId: string, identity: Partial<RunIdentity> = {}, at = T0): Promise<void> {
      expect(await stores.runs.start(beginning(runId, { identity, at }))).toMatchObject({
        kind: 'committed',
      });
    }

    async function append(runId: string, drafts: readonly EventDraft[], at: number): Promise<void> {
      const run = await stores.runs.load(runId);
      if (!run) throw new Error(`run ${runId} is not there`);
      const { commit } = move(run.state, drafts, { at, snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
    }

    async function begin(runId: string, at: number): Promise<void> {
      const run = await stores.runs.load(runId);
      if (run) await append(runId, claim(run.state, T0 + 900_000), at);
    }

    /** A run that has waited for a person since `at`. */
    async function asking(runId: string, at: number, identity: Partial<RunIdentity> = {}): Promise<void> {
      await start(runId, identity);
      await begin(runId, at);
      await append(runId, [opened(questionOf('gate', { id: 'gate.1', openedAt: at })), SUSPENDED], at);
    }

    /** Ids over all pages. */
    async function inOrder(order: IndexedOrder, filter: Partial<RunFilter> = {}, limit = 2) {
      const ids: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await stores.finder.ordered(order, { tenantId: 'acme', ...filter }, { limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        ids.push(...page.items.map(({ state }) => state.id));
        if (page.next === undefined) return ids;
        cursor = page.next;
      }
    }

    /** A run that failed after `ms`. */
    async function lasting(runId: string, ms: number, identity: Partial<RunIdentity> = {}): Promise<void> {
      await start(runId, identity);
      await begin(runId, T0);
      await append(runId, [FAILED], T0 + ms);
    }

    test('are those that have ended, the longest first, and by descending id where equal', async () => {
      await lasting('run_a', 7);
      await lasting('run_c', 900);
      await lasting('run_b', 7);
      await lasting('run_d', 0, { type: 'deploy', parent: { runId: 'run_a', stepId: 's' } });
      await lasting('run_e', 80_000, { type: 'deploy' });
      await lasting('run_foreign', 5, { tenantId: 'other' });
      await start('run_live');
      for (const limit of [1, 2, 100])
        expect(await inOrder('longest', {}, limit)).toEqual(['run_e', 'run_c', 'run_b', 'run_a', 'run_d']);
      expect(await inOrder('longest', { type: 'deploy' })).toEqual(['run_e', 'run_d']);
      expect(await inOrder('longest', { type: 'deploy', topLevel: true })).toEqual(['run_e']);
      expect(await inOrder('longest', { status: ['failed', 'running'], createdFrom: T0 }, 1)).toHaveLength(5);
      expect(await inOrder('longest', { status: 'completed' })).toEqual([]);
    });

    test('are all, the last changed first, whatever the filter', async () => {
      const named = { type: 'deploy', repoId: 'acme/app', threadId: 'th', tags: ['customer:42'] };
      await start('run_a', named);
      await asking('run_b', T0 + 5, named);
      await lasting('run_c', 900);
      await asking('run_d', T0 + 5);
      await start('run_e');
      await start('run_foreign', { tenantId: 'other' });
      for (const limit of [1, 2, 100])
        expect(await inOrder('updated', {}, limit)).toEqual(['run_c', 'run_d', 'run_b', 'run_e', 'run_a']);
      const { tags: _, ...members } = named;
      for (const filter of [{ type: 'deploy' }, members, { tag: 'customer:42' }])
        expect(await inOrder('updated', filter, 1)).toEqual(['run_b', 'run_a']);
      expect(await inOrder('updated', { status: 'awaiting_approval' }, 1)).toEqual(['run_d', 'run_b']);
      expect(await inOrder('updated', { waitsFor: 'awaiting_approval', type: 'deploy' })).toEqual(['run_b']);
      expect(await inOrder('updated', { status: ['pending', 'failed'] })).toEqual([
        'run_c',
        'run_e',
        'run_a',
      ]);
      expect(await inOrder('updated', { createdBefore: T0 })).toEqual([]);
      expect(await inOrder('updated', { match: matchOf('run_d') })).toEqual(['run_d']);
      // A change moves it to the front.
      await begin('run_a', T0 + 901);
      expect(await inOrder('updated')).toEqual(['run_a', 'run_c', 'run_d', 'run_b', 'run_e']);
    });

    test('are those of all shards, including shards that the installation no longer writes', async () => {
      for (const [n, shard] of [3, 15, 16, 200, 255].entries()) {
        const { state, ...commit } = beginning(`run_${n}`, { at: T0 + n });
        await stores.runs.start({ ...commit, state: { ...state, shard } });
      }
      for (const limit of [1, 2, 100])
        expect(await inOrder('updated', {}, limit)).toEqual(['run_4', 'run_3', 'run_2', 'run_1', 'run_0']);
    });

    test('exclude those marked for deletion, without ending a page there', async () => {
      for (const runId of ['run_1', 'run_2', 'run_3']) await lasting(runId, 5);
      const version = (await stores.runs.load('run_2'))?.snapshotVersion ?? '';
      expect(await stores.retention.mark('run_2', version, T0 + 7)).toEqual({ kind: 'written' });
      for (const order of ['longest', 'updated'] as const)
        expect(await inOrder(order, {}, 1)).toEqual(['run_3', 'run_1']);
    });

    test('refuse the cursor of the other order', async () => {
      for (const runId of ['run_1', 'run_2']) await lasting(runId, 5);
      const { next } = await stores.finder.ordered('longest', { tenantId: 'acme' }, { limit: 1 });
      await expect(
        stores.finder.ordered('updated', { tenantId: 'acme' }, { limit: 1, cursor: next }),
      ).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    test('are complete over the pages of every order', async () => {
      const now = T0 + 1_000;
      const deps = { store: stores.runs, finder: stores.finder, clock: { now: () => now } as never };
      // Few distinct times of start and change, so that many are equal; every second run has ended.
      for (let n = 0; n < 24; n += 1) {
        const runId = `run_${(n * 7) % 24}`;
        await start(runId, n % 3 === 0 ? { type: 'deploy' } : {}, T0 + (n % 4));
        if (n % 2 === 0) continue;
        await begin(runId, T0 + 10);
        await append(runId, [FAILED], T0 + 10 + (n % 5) * 300);
      }
      const filters: readonly Partial<RunFilter>[] = [
        {},
        { type: 'deploy' },
        { status: ['failed', 'pending'], topLevel: true },
        { match: matchOf('run_1') },
      ];
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...RUN_ORDERS),
          fc.constantFrom(...filters),
          fc.integer({ min: 1, max: 9 }),
          async (order, filter, limit) => {
            const wanted = { tenantId: 'acme', ...filter };
            const { items: all } = await stores.runs.listRuns(wanted, { limit: 100 });
            const pages: ListedRun[] = [];
            for (let cursor: string | undefined; ; ) {
              const { items, next } = await sortedRuns(deps, wanted, { order, limit, cursor });
              pages.push(...items);
              if (next === undefined) break;
              cursor = next;
            }
            const idsOf = (runs: readonly ListedRun[]) => runs.map(({ state }) => state.id);
            expect(idsOf(pages)).toEqual(idsOf(sortedBy(order, all, now)));
          },
        ),
        { numRuns: 20 },
      );
    });
  });
}
