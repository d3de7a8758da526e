/** Contract of retention stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { EventDraft, RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type {
  Bucket,
  EndPosition,
  LineageMember,
} from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, move, succeeded, T0 } from '../support/run-fixture.ts';
import { row } from './rows.ts';

const COMPLETED: EventDraft = {
  type: 'run_completed',
  data: { result: { text: '{}' } },
  initiator: 'system',
};
const FAILED: EventDraft = {
  type: 'run_failed',
  data: { error: { code: 'X', message: 'x', retryable: false } },
  initiator: 'system',
};

export function retentionStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());

    interface Run {
      readonly at?: number;
      /** Absent for a live run. */
      readonly end?: EventDraft;
      readonly identity?: Partial<RunIdentity>;
      readonly steps?: readonly EventDraft[];
    }

    async function run(
      runId: string,
      { at = T0, end, identity = {}, steps = [] }: Run = {},
    ): Promise<RunState> {
      const start = beginning(runId, { at, identity: { rootRunId: runId, ...identity } });
      await stores.runs.start(start);
      const drafts = [...claim(start.state, at + 60_000), ...steps, ...(end ? [end] : [])];
      const { after, commit } = move(start.state, drafts, { at, snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
      return after;
    }

    async function only(rootRunId: string): Promise<LineageMember> {
      const [member, ...others] = await stores.retention.lineage(rootRunId, 10);
      if (!member || others.length > 0) throw new Error(`${rootRunId} is not one run`);
      return member;
    }

    async function buckets(): Promise<Bucket[]> {
      const found: Bucket[] = [];
      for (let next = await stores.retention.nextBucket(undefined); next; ) {
        found.push(next);
        next = await stores.retention.nextBucket(next);
      }
      return found;
    }

    test('lists each kind of end of each workflow once, in order, and no live runs', async () => {
      expect(await buckets()).toEqual([]);
      await run('run_1', { end: FAILED, identity: { type: 'b' } });
      await run('run_2', { end: COMPLETED, identity: { type: 'b' } });
      await run('run_3', { end: COMPLETED, identity: { type: 'a', tenantId: 'other' } });
      await run('run_4', { end: COMPLETED, identity: { type: 'b' } });
      await run('run_5', { identity: { type: 'c' } });
      expect(await buckets()).toEqual([
        { status: 'completed', type: 'a' },
        { status: 'completed', type: 'b' },
        { status: 'failed', type: 'b' },
      ]);
    });

    test('lists the runs that ended by a time in the order of their ends, page by page', async () => {
      const ends: [string, number][] = [
        ['run_1', 3],
        ['run_2', 1],
        ['run_3', 2],
        ['run_4', 2],
        ['run_5', 9],
      ];
      for (const [runId, at] of ends)
        await run(runId, { at: T0 + at, end: COMPLETED, identity: { rootRunId: 'r' } });
      await run('run_6', { at: T0, end: FAILED });
      const bucket: Bucket = { status: 'completed', type: 'review-pull-request' };
      const found: string[] = [];
      let after: EndPosition | undefined;
      for (let page = 0; page < 4; page += 1) {
        const runs = await stores.retention.ended({ bucket, until: T0 + 3, after, limit: 2 });
        for (const one of runs) expect(one).toMatchObject({ rootRunId: 'r', tenantId: 'acme' });
        found.push(...runs.map(({ runId }) => runId));
        after = runs.at(-1) ?? after;
      }
      expect(found).toEqual(['run_2', 'run_3', 'run_4', 'run_1']);
    });

    test('reads the runs of a lineage with everything that its decision needs', async () => {
      const parent = { runId: 'run_p', stepId: 'w' };
      await run('run_1', { at: T0 + 5, end: FAILED, identity: { rootRunId: 'r', parent } });
      await run('run_2', { identity: { rootRunId: 'r' } });
      await run('run_3', { end: COMPLETED });
      const members = [...(await stores.retention.lineage('r', 10))].sort((a, b) =>
        a.runId < b.runId ? -1 : 1,
      );
      expect(members).toEqual([
        expect.objectContaining({
          runId: 'run_1',
          tenantId: 'acme',
          type: 'review-pull-request',
          status: 'failed',
          completedAt: T0 + 5,
          // Its parent was not notified yet.
          hasDuties: true,
          parentRunId: 'run_p',
          childRunIds: [],
        }),
        expect.objectContaining({ runId: 'run_2', status: 'running', hasDuties: true }),
      ]);
      expect(members.map(({ hold, markedAt }) => ({ hold, markedAt }))).toEqual([{}, {}]);
      expect(await stores.retention.lineage('r', 1)).toHaveLength(1);
      expect(await only('run_3')).toMatchObject({ hasDuties: false, status: 'completed' });
    });

    test('reports which of some runs exist, and whether they have ended', async () => {
      await run('run_1', { end: COMPLETED });
      await run('run_2');
      const present = await stores.retention.present(['run_1', 'run_2', 'run_none']);
      expect([...present]).toEqual([
        ['run_1', { isOver: true }],
        ['run_2', { isOver: false }],
      ]);
      expect([...(await stores.retention.present([]))]).toEqual([]);
    });

    test('a mark hides a run from people only, and can be removed', async () => {
      await run('run_1', { end: COMPLETED });
      await run('run_2', { at: T0 + 1, end: COMPLETED });
      const { version } = await only('run_1');
      expect(await stores.retention.mark('run_1', version, T0 + 7)).toEqual({ kind: 'written' });
      const seen = async () => ({
        byPeople: (await stores.runs.load('run_1', 'acme')) !== undefined,
        byRuns: (await stores.runs.load('run_1')) !== undefined,
        listed: (await stores.runs.listRuns({ tenantId: 'acme' }, { limit: 10 })).items.map(
          ({ state }) => state.id,
        ),
      });
      expect(await seen()).toEqual({ byPeople: false, byRuns: true, listed: ['run_2'] });
      const marked = await only('run_1');
      expect(marked.markedAt).toBe(T0 + 7);
      expect(await stores.retention.mark('run_1', version, undefined)).toEqual({ kind: 'stale' });
      expect(await stores.retention.mark('run_1', marked.version, undefined)).toEqual({ kind: 'written' });
      expect(await seen()).toEqual({ byPeople: true, byRuns: true, listed: ['run_2', 'run_1'] });
      expect((await only('run_1')).markedAt).toBeUndefined();
    });

    test('a list continues after a page of which every run is hidden', async () => {
      for (const n of [1, 2, 3]) await run(`run_${n}`, { at: T0 + n, end: COMPLETED });
      await stores.retention.mark('run_3', (await only('run_3')).version, T0);
      const first = await stores.runs.listRuns({ tenantId: 'acme' }, { limit: 1 });
      const cursor = first.next ?? '';
      const second = await stores.runs.listRuns({ tenantId: 'acme' }, { limit: 1, cursor });
      expect([first.items.length, second.items.map(({ state }) => state.id)]).toEqual([0, ['run_2']]);
    });

    test('a hold is stored beside the mark, and is not overwritten by the run', async () => {
      const state = await run('run_1');
      const hold = { by: 'c.ops', at: T0 + 1, reason: 'a dispute' };
      expect(await stores.retention.hold('run_1', (await only('run_1')).version, hold)).toEqual({
        kind: 'written',
      });
      expect(await stores.retention.mark('run_1', (await only('run_1')).version, T0 + 2)).toEqual({
        kind: 'written',
      });
      const { commit } = move(state, [FAILED], { snapshot: true, metadata: { heartbeat: true } });
      await stores.runs.commit(commit);
      const held = await only('run_1');
      expect(held).toMatchObject({ hold, markedAt: T0 + 2, status: 'failed' });
      expect((await stores.runs.load('run_1'))?.metadata).toMatchObject({ legalHold: hold });
      expect(await stores.retention.hold('run_1', held.version, undefined)).toEqual({ kind: 'written' });
      expect((await only('run_1')).hold).toBeUndefined();
      expect(await stores.retention.hold('run_none', held.version, hold)).toEqual({ kind: 'stale' });
    });

    test('deletes everything under a run in parts, and nothing of another run', async () => {
      const steps = [succeeded('a'), succeeded('b')];
      for (const runId of ['run_1', 'run_2']) {
        await run(runId, { end: COMPLETED, steps });
        await stores.runs.writePayload(runId, JSON.stringify('x'.repeat(300_000)));
        // For a step without a document.
        await stores.runs.createMemo(runId, { step: 'c[1]', revision: 1, name: 'm', text: '1' });
        await stores.runs.createMemo(runId, { step: 'a', revision: 2, name: 'n', text: '2' });
      }
      let deleted = 0;
      let pieces = 0;
      for (let more = true; more; pieces += 1) {
        const cleared = await stores.retention.deleteUnder('run_1', 3);
        expect(cleared.deleted).toBeLessThanOrEqual(3);
        deleted += cleared.deleted;
        more = cleared.more;
      }
      // 6 events, 4 checkpoints, 2 steps, 2 memos, 1 payload.
      expect(deleted).toBe(15);
      expect(pieces).toBeGreaterThanOrEqual(5);
      expect(await stores.retention.deleteUnder('run_1', 3)).toMatchObject({ deleted: 0, more: false });
      expect(await stores.runs.readEvents('run_1', 0, 10)).toEqual([]);
      expect(await stores.runs.readMemos('run_1', 'c[1]', 1)).toEqual(new Map());
      expect(await stores.runs.readEvents('run_2', 0, 10)).toHaveLength(6);
      expect(await stores.runs.readMemos('run_2', 'c[1]', 1)).toEqual(new Map([['m', '1']]));
      expect(await stores.retention.deleteUnder('run_2', 100)).toMatchObject({ deleted: 15, more: false });
    });

    test('deletes the ledger rows of a run with the run', async () => {
      const state = await run('run_1');
      const key = 'e'.repeat(64);
      const rows = [1, 2, 3].map((n) => ({
        ...row({ idempotencyKey: key, n }),
        runId: n === 3 ? 'run_2' : 'run_1',
      }));
      const { commit } = move(state, [FAILED], { snapshot: true });
      await stores.runs.commit({
        ...commit,
        effects: rows.map((record) => ({ kind: 'create' as const, record })),
      });
      expect(await stores.retention.deleteEffects('run_1', 1)).toEqual({ deleted: 1, more: true });
      expect(await stores.retention.deleteEffects('run_1', 1)).toEqual({ deleted: 1, more: false });
      expect(await stores.retention.deleteEffects('run_1', 1)).toEqual({ deleted: 0, more: false });
      expect((await stores.effects.rowsOf(key)).map(({ record }) => record.n)).toEqual([3]);
    });

    test('deletes a run document only in the version last seen', async () => {
      await run('run_1', { end: COMPLETED });
      const { version } = await only('run_1');
      await stores.retention.mark('run_1', version, T0);
      expect(await stores.retention.deleteRun('run_1', version)).toEqual({ kind: 'stale' });
      const marked = await only('run_1');
      await stores.findings.note({
        ...{ runId: 'run_1', tenantId: 'acme', type: 'sized', head: 1 },
        ...{ reason: 'request', message: 'too large', since: T0, lastAt: T0 },
      });
      expect(await stores.retention.deleteRun('run_1', version)).toEqual({ kind: 'stale' });
      expect(await stores.findings.find('run_1')).toBeDefined();
      expect(await stores.retention.deleteRun('run_1', marked.version)).toEqual({ kind: 'written' });
      expect(await stores.findings.find('run_1')).toBeUndefined();
      expect(await stores.runs.load('run_1')).toBeUndefined();
      expect(await stores.retention.lineage('run_1', 10)).toEqual([]);
      expect(await stores.retention.deleteRun('run_1', marked.version)).toEqual({ kind: 'stale' });
    });

    test('payloads are orphans only without a run and without a journal', async () => {
      const text = JSON.stringify('x'.repeat(2_000_000));
      await stores.runs.writePayload('run_1', text);
      await stores.runs.writePayload('run_2', text);
      await run('run_2', { end: COMPLETED });
      await stores.runs.writePayload('run_3', text);
      await run('run_3', { end: COMPLETED });
      await stores.retention.deleteRun('run_3', (await only('run_3')).version);

      const owners = await stores.retention.payloadOwners(undefined, 10);
      expect(owners.map(({ runId }) => runId)).toEqual(['run_1', 'run_2', 'run_3']);
      for (const { writtenAt } of owners) expect(writtenAt).toBe(stores.now());
      expect((await stores.retention.payloadOwners('run_1', 1)).map(({ runId }) => runId)).toEqual(['run_2']);
      expect(await stores.retention.payloadOwners('run_3', 10)).toEqual([]);

      for (const runId of ['run_2', 'run_3', 'run_none'])
        expect(await stores.retention.deleteOrphans(runId, 10)).toEqual({ deleted: 0, more: false });
      let more = true;
      while (more) ({ more } = await stores.retention.deleteOrphans('run_1', 2));
      expect((await stores.retention.payloadOwners(undefined, 10)).map(({ runId }) => runId)).toEqual([
        'run_2',
        'run_3',
      ]);
    });

    test('results of effects without a run are orphans once their owner has no row', async () => {
      const owner = 'external:t1:order-7';
      await stores.runs.writePayload(owner, JSON.stringify('x'.repeat(300_000)));
      await stores.effects.create({ ...row({ idempotencyKey: 'f'.repeat(64) }), runId: owner });
      expect(await stores.retention.deleteOrphans(owner, 10)).toEqual({ deleted: 0, more: false });
      await stores.retention.deleteEffects(owner, 10);
      expect((await stores.retention.deleteOrphans(owner, 10)).deleted).toBe(1);
      expect(await stores.retention.payloadOwners(undefined, 10)).toEqual([]);
    });

    test('the progress of the work reads back unchanged', async () => {
      expect(await stores.retention.readProgress()).toEqual({});
      await stores.retention.saveProgress({ runs: 'here', payloads: 'there' });
      const further = { payloads: 'further', underway: ['run_1', 'run_2'], erasure: 'era_1' };
      await stores.retention.saveProgress(further);
      expect(await stores.retention.readProgress()).toEqual(further);
    });
  });
}
