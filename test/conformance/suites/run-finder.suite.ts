/** Contract of run finders. */

import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft, RunEvent, RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import { reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { wakeAt } from '../../../packages/cairn/src/core/run/wake.ts';
import { listedState } from '../../../packages/cairn/src/core/search/listed.ts';
import { listedWaits } from '../../../packages/cairn/src/core/search/listing.ts';
import { stepCounts } from '../../../packages/cairn/src/core/search/step-counts.ts';
import type { LoadedRun, RunFilter } from '../../../packages/cairn/src/ports/run-store.ts';
import { opened, questionOf, waitOf } from '../../core/run/journal-drafts.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

const SUSPENDED: EventDraft = {
  type: 'run_suspended',
  initiator: 'system',
  data: { status: 'awaiting_approval', announced: true },
};
const RESUMED: EventDraft = { type: 'run_resumed', initiator: 'system', data: { reason: 'answered' } };
const FAILED: EventDraft = {
  type: 'run_failed',
  initiator: 'system',
  data: { error: { code: 'X', message: 'x', retryable: false } },
};
const { execution } = waitOf('send');
const ATTEMPTED: EventDraft = {
  type: 'effect_attempted',
  initiator: 'system',
  data: { stepId: 'send', revision: 1, attempt: execution.attempt, effectId: 'f', capabilityId: 'c' },
};

export function runFinderConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());

    async function start(runId: string, identity: Partial<RunIdentity> = {}): Promise<void> {
      expect(await stores.runs.start(beginning(runId, { identity }))).toMatchObject({ kind: 'committed' });
    }

    async function loaded(runId: string): Promise<LoadedRun> {
      const run = await stores.runs.load(runId);
      if (!run) throw new Error(`run ${runId} is not there`);
      return run;
    }

    async function append(runId: string, drafts: readonly EventDraft[], at = T0): Promise<RunState> {
      const { state } = await loaded(runId);
      const { after, commit } = move(state, drafts, { at, snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
      return after;
    }

    /** A run that has waited for a person since `at`. */
    async function asking(runId: string, at: number, identity: Partial<RunIdentity> = {}): Promise<RunState> {
      await start(runId, identity);
      const { state } = await loaded(runId);
      const question = opened(questionOf('gate', { id: 'gate.1', openedAt: at }));
      return append(runId, [...claim(state, T0 + 1_000), question, SUSPENDED], at);
    }

    const listed = async (tenantId = 'acme', limit = 10): Promise<string[]> => {
      const ids: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const { items, next } = await stores.finder.asking(tenantId, {
          limit,
          ...(cursor === undefined ? {} : { cursor }),
        });
        ids.push(...items.map(({ id }) => id));
        if (next === undefined) return ids;
        cursor = next;
      }
    };

    describe('runs that wait for a person', () => {
      test('are those of one tenant, the longest-waiting first', async () => {
        const states = [
          await asking('run_late', T0 + 9),
          await asking('run_b', T0 + 5),
          await asking('run_a', T0 + 5),
        ];
        await asking('run_foreign', T0 + 1, { tenantId: 'other' });
        await start('run_silent');
        expect(await listed()).toEqual(['run_a', 'run_b', 'run_late']);
        expect(await listed('other')).toEqual(['run_foreign']);
        const { items } = await stores.finder.asking('acme', { limit: 10 });
        expect(items.find(({ id }) => id === 'run_late')).toEqual(states[0]);
      });

      test('are listed page by page, each once, though many have the same time', async () => {
        const runIds = Array.from({ length: 7 }, (_, i) => `run_${(i * 3) % 7}`);
        for (const [i, runId] of runIds.entries()) await asking(runId, T0 + (i % 2));
        const all = await listed('acme', 2);
        expect(all).toHaveLength(7);
        expect([...all].sort()).toEqual([...runIds].sort());
        expect(all).toEqual(await listed('acme', 100));
      });

      test('disappear when answered, and reappear with a new question', async () => {
        await asking('run_1', T0 + 5);
        await asking('run_2', T0 + 7);
        const answer: EventDraft = {
          type: 'wait_resolved',
          initiator: 'approval',
          data: { waitId: 'gate.1', decision: 'approve', payloadText: '{}' },
        };
        await append('run_1', [answer, RESUMED], T0 + 8);
        expect(await listed()).toEqual(['run_2']);
        const { state } = await loaded('run_1');
        const other = opened(questionOf('other', { id: 'other.1', openedAt: T0 + 9 }));
        await append('run_1', [...claim(state, T0 + 9_000), other, SUSPENDED], T0 + 9);
        expect(await listed()).toEqual(['run_2', 'run_1']);
      });

      test('include those that ended in doubt, despite a successor, until the ledger knows the outcome', async () => {
        await start('run_1');
        const { state } = await loaded('run_1');
        await append('run_1', [...claim(state, T0 + 1_000), ATTEMPTED, FAILED], T0 + 6);
        await asking('run_2', T0 + 7);
        expect(await listed()).toEqual(['run_1', 'run_2']);
        const source = await loaded('run_1');
        const event = seal(
          { type: 'run_superseded', initiator: 'user', data: { by: 'run_3' } },
          { chain: source.state, id: 'by run_3', now: T0 + 8 },
        ) as RunEvent<'run_superseded'>;
        const { metadata, snapshotVersion: seen } = source;
        const supersedes = { event, snapshot: reduce(source.state, event), metadata, seen };
        const successor = beginning('run_3', { identity: { resumedFrom: 'run_1' } });
        expect(await stores.runs.start({ ...successor, supersedes })).toMatchObject({ kind: 'committed' });
        expect(await listed()).toEqual(['run_1', 'run_2']);
        const stale = await stores.runs.touch({ runId: 'run_1', seen, asksNothing: true });
        expect([stale.kind, await listed()]).toEqual(['stale', ['run_1', 'run_2']]);
        const { snapshotVersion, ...before } = await loaded('run_1');
        await stores.runs.touch({ runId: 'run_1', seen: snapshotVersion, asksNothing: true });
        expect(await listed()).toEqual(['run_2']);
        const after = await loaded('run_1');
        expect([after.state, after.metadata]).toEqual([before.state, before.metadata]);
      });

      test('exclude those marked for deletion', async () => {
        await asking('run_1', T0 + 5);
        await asking('run_2', T0 + 6);
        const { snapshotVersion } = await loaded('run_1');
        expect(await stores.retention.mark('run_1', snapshotVersion, T0 + 7)).toEqual({ kind: 'written' });
        expect(await listed()).toEqual(['run_2']);
        expect(await listed('acme', 1)).toEqual(['run_2']);
      });

      test('are listed correctly after a repair', async () => {
        const state = await asking('run_1', T0 + 5);
        const draft: EventDraft = {
          type: 'snapshot_repaired',
          initiator: 'user',
          data: { beforeHash: 'x', afterHash: 'y' },
        };
        const event = seal(draft, { chain: state, id: 'repair', now: T0 + 9 });
        const { snapshotVersion: seen } = await loaded('run_1');
        const snapshot = { seen, state: reduce(state, event), metadata: {}, isMetadataDamaged: false };
        const repair = { runId: 'run_1', event, snapshot, steps: [], checkpoints: [] };
        expect(await stores.integrity.repair(repair)).toMatchObject({ kind: 'repaired' });
        expect(await listed()).toEqual(['run_1']);
      });

      test('a cursor of another list is refused', async () => {
        await start('run_1');
        await start('run_2');
        const { next = '' } = await stores.runs.listRuns({ tenantId: 'acme' }, { limit: 1 });
        await expect(stores.finder.asking('acme', { limit: 1, cursor: next })).rejects.toMatchObject({
          code: 'INVALID_INPUT',
        });
      });
    });

    describe('counts of runs', () => {
      const count = (filter: Omit<RunFilter, 'tenantId'>, most = 100, tenantId = 'acme') =>
        stores.finder.count({ tenantId, ...filter }, most);

      test('apply every filter, alone and in combination, to one tenant', async () => {
        const wanted = { type: 'deploy', repoId: 'acme/app', threadId: 'th' };
        await start('run_all', wanted);
        await start('run_type', { type: 'deploy' });
        await start('run_repo', { repoId: 'acme/app' });
        await start('run_foreign', { ...wanted, tenantId: 'other' });
        await asking('run_asking', T0 + 5, { ...wanted, tags: ['customer:42'] });
        expect(await count({ tag: 'customer:42' })).toBe(1);
        expect(await count({ tag: 'customer:42', status: 'awaiting_approval' })).toBe(1);
        expect(await count({ tag: 'customer:42', status: 'failed' })).toBe(0);
        expect(await count({})).toBe(4);
        expect(await count({ status: 'pending' })).toBe(3);
        expect(await count({ status: 'awaiting_approval' })).toBe(1);
        expect(await count({ type: 'deploy' })).toBe(3);
        expect(await count({ ...wanted, status: 'pending' })).toBe(1);
        expect(await count(wanted, 100, 'other')).toBe(1);
        expect(await count({ status: 'failed' })).toBe(0);
        const filters = [
          {},
          { type: 'deploy' },
          { status: 'pending' },
          { tag: 'customer:42' },
          wanted,
        ] as const;
        for (const filter of filters) {
          const all = await count(filter);
          expect(await count({ ...filter, createdFrom: T0 - 1_000, createdBefore: T0 + 1_000 })).toBe(all);
          expect(await count({ ...filter, createdBefore: T0 - 1_000 })).toBe(0);
          expect(await count({ ...filter, createdFrom: T0 + 1_000 })).toBe(0);
        }
      });

      test('stop at the requested limit', async () => {
        for (const runId of ['run_1', 'run_2', 'run_3']) await start(runId);
        expect(await count({}, 2)).toBe(2);
        expect(await count({}, 3)).toBe(3);
      });
    });

    describe('runs by a prefix of their id', () => {
      const ids = async (prefix: string, most = 10) =>
        (await stores.finder.beginning('acme', prefix, most)).map(({ state }) => state.id);

      test('are those of one tenant, by id, up to the limit', async () => {
        for (const runId of ['run_abd', 'run_abc', 'run_ab', 'run_b']) await start(runId);
        await start('run_abb', { tenantId: 'other' });
        expect(await ids('run_ab')).toEqual(['run_ab', 'run_abc', 'run_abd']);
        expect(await ids('run_abc')).toEqual(['run_abc']);
        expect(await ids('run_c')).toEqual([]);
        expect(await ids('run_a', 2)).toEqual(['run_ab']);
      });

      test('exclude those marked for deletion', async () => {
        await asking('run_1', T0 + 5);
        const { snapshotVersion } = await loaded('run_1');
        await stores.retention.mark('run_1', snapshotVersion, T0 + 7);
        expect(await ids('run_')).toEqual([]);
      });
    });

    describe('runs by a name', () => {
      const ids = async (name: string, most = 10, tenantId = 'acme') =>
        (await stores.finder.named(tenantId, name, most)).map(({ state }) => state.id);
      const names = {
        trigger: { source: 'webhook', webhookEventId: 'delivery-7' },
        idempotencyKey: 'api:c.ci:build:7',
        threadId: 'thread-7',
        traceId: 'f'.repeat(32),
        prUrl: 'https://github.com/acme/app/pull/7',
      } as const;

      test('are found by each of their complete names, within one tenant', async () => {
        await start('run_1', names);
        await start('run_foreign', { ...names, tenantId: 'other' });
        for (const name of [
          'delivery-7',
          'build:7',
          names.idempotencyKey,
          'thread-7',
          names.traceId,
          names.prUrl,
        ])
          expect([name, await ids(name)]).toEqual([name, ['run_1']]);
        for (const name of ['delivery', 'c.ci', 'thread-7 ', 'run_1', '', 'acme/app'])
          expect([name, await ids(name)]).toEqual([name, []]);
        expect(await ids('thread-7', 10, 'other')).toEqual(['run_foreign']);
      });

      test('are listed newest first, up to the limit', async () => {
        const at = (runId: string, ms: number) =>
          stores.runs.start(beginning(runId, { at: T0 + ms, identity: { threadId: 'th' } }));
        for (const [runId, ms] of [
          ['run_b', 2],
          ['run_old', 1],
          ['run_a', 2],
          ['run_new', 3],
        ] as const)
          await at(runId, ms);
        expect(await ids('th')).toEqual(['run_new', 'run_b', 'run_a', 'run_old']);
        expect(await ids('th', 2)).toEqual(['run_new', 'run_b']);
        const [newest] = await stores.finder.named('acme', 'th', 1);
        const { state } = await loaded('run_new');
        expect(newest).toEqual({
          state: listedState(state),
          metadata: {},
          stepCounts: stepCounts(state.steps),
          waits: listedWaits(state.waits),
          wakeAt: wakeAt(state),
        });
      });

      test('are found however the run changes, but not when it is marked for deletion', async () => {
        await asking('run_1', T0 + 5, names);
        expect(await ids('thread-7')).toEqual(['run_1']);
        const { snapshotVersion } = await loaded('run_1');
        await stores.retention.mark('run_1', snapshotVersion, T0 + 7);
        expect(await ids('thread-7')).toEqual([]);
      });
    });
  });
}
