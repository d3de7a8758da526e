/** What every run store promises, claim by claim: commits, loads and touches. Lists are in run-lists.suite.ts. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NewerSchemaError } from '../../functions/src/core/events.ts';
import type { RunState } from '../../functions/src/core/state.ts';
import { wakeAt } from '../../functions/src/core/wake.ts';
import type { LoadedRun, RunStore } from '../../functions/src/ports/run-store.ts';
import type { Harness, Stores } from './harness.ts';
import { beginning, claim, idempotencyRecord, move, release, succeeded, T0 } from './run-fixture.ts';

const LEASE_MS = 300_000;

export function runStoreConformance(name: string, harness: Harness): void {
  let stores: Stores;
  let runs: RunStore;
  beforeEach(async () => {
    stores = await harness.make();
    runs = stores.runs;
  });
  afterAll(() => harness.close());

  async function loaded(runId: string): Promise<LoadedRun> {
    const run = await runs.load(runId);
    if (!run) throw new Error(`run ${runId} is not there`);
    return run;
  }

  /** A run that a drive holds, its snapshot at the claim. */
  async function claimed(runId: string): Promise<RunState> {
    const start = beginning(runId);
    await runs.start(start);
    const { after, commit } = move(start.state, claim(start.state, T0 + LEASE_MS), { snapshot: true });
    expect(await runs.commit(commit)).toMatchObject({ kind: 'committed' });
    return after;
  }

  describe(`${name}: start`, () => {
    test('makes run, first event and records, which read back exactly', async () => {
      const record = idempotencyRecord('api:c.1:k');
      const start = beginning('run_1', { records: [{ record }] });
      const result = await runs.start(start);
      expect(result).toEqual({ kind: 'committed', snapshotVersion: expect.any(String) });

      const run = await loaded('run_1');
      expect(run).toEqual({
        state: start.state,
        soft: {},
        snapshotHead: 1,
        snapshotVersion: result.kind === 'committed' ? result.snapshotVersion : undefined,
        readAt: stores.now(),
      });
      expect(await runs.readEvents('run_1', 0, 10)).toEqual(start.events);
      expect((await stores.idempotency.read(record.key))?.record).toEqual(record);
    });

    test('of a run that exists changes nothing', async () => {
      const first = beginning('run_1');
      await runs.start(first);
      const record = idempotencyRecord('api:c.1:k');
      const second = beginning('run_1', { eventId: 'other', at: T0 + 5, records: [{ record }] });
      expect(await runs.start(second)).toEqual({ kind: 'exists' });
      expect((await loaded('run_1')).state).toEqual(first.state);
      expect(await stores.idempotency.read(record.key)).toBeUndefined();
    });

    test('with a record that exists makes no run and no other record', async () => {
      const taken = idempotencyRecord('api:c.1:taken');
      await stores.idempotency.create(taken);
      const other = idempotencyRecord('api:c.1:other');
      const start = beginning('run_1', {
        records: [{ record: other }, { record: { ...taken, runId: 'run_2' } }],
      });
      expect(await runs.start(start)).toEqual({ kind: 'exists' });
      expect(await runs.load('run_1')).toBeUndefined();
      expect(await runs.readEvents('run_1', 0, 10)).toEqual([]);
      expect(await stores.idempotency.read(other.key)).toBeUndefined();
      expect((await stores.idempotency.read(taken.key))?.record).toEqual(taken);
    });

    test('replaces the version of a record that was seen, as a whole', async () => {
      const old = idempotencyRecord('k', { status: 'failed', error: 'why', lockExpiresAt: T0 + 9 });
      const created = await stores.idempotency.create(old);
      if (created.kind !== 'created') throw new Error('not created');
      const record = idempotencyRecord('k', { runId: 'run_2', createdAt: T0 + 7 });
      const start = beginning('run_2', { records: [{ record, replaces: created.version }] });
      expect(await runs.start(start)).toMatchObject({ kind: 'committed' });
      expect((await stores.idempotency.read('k'))?.record).toEqual(record);
    });

    test.each(['changed', 'deleted'] as const)(
      'with a record to replace that was %s makes nothing',
      async (fate) => {
        const created = await stores.idempotency.create(idempotencyRecord('k'));
        if (created.kind !== 'created') throw new Error('not created');
        if (fate === 'changed')
          await stores.idempotency.replace(idempotencyRecord('k', { attempts: 2 }), created.version);
        const record = idempotencyRecord(fate === 'changed' ? 'k' : 'gone', { runId: 'run_2' });
        const start = beginning('run_2', { records: [{ record, replaces: created.version }] });
        expect(await runs.start(start)).toEqual({ kind: 'exists' });
        expect(await runs.load('run_2')).toBeUndefined();
      },
    );

    test('of many at once under one key lets exactly one through', async () => {
      const starts = Array.from({ length: 20 }, (_, i) =>
        beginning(`run_${i}`, { records: [{ record: idempotencyRecord('one', { runId: `run_${i}` }) }] }),
      );
      const results = await Promise.all(starts.map((start) => runs.start(start)));
      const won = starts.filter((_, i) => results[i]?.kind === 'committed').map(({ state }) => state.id);
      expect(won).toHaveLength(1);
      expect((await stores.idempotency.read('one'))?.record.runId).toBe(won[0]);
      const made = await Promise.all(starts.map(({ state }) => runs.load(state.id)));
      expect(made.flatMap((run) => (run ? [run.state.id] : []))).toEqual(won);
    });
  });

  describe(`${name}: commit`, () => {
    test('without a snapshot moves the journal only, and a load folds the tail', async () => {
      const state = await claimed('run_1');
      const before = await loaded('run_1');
      const one = move(state, [succeeded('size')], { at: T0 + 10 });
      const two = move(one.after, [succeeded('risk'), succeeded('labels', { itemKey: 'a b:[%]\n🪨/' })], {
        at: T0 + 20,
      });
      expect(await runs.commit(one.commit)).toEqual({ kind: 'committed' });
      expect(await runs.commit(two.commit)).toEqual({ kind: 'committed' });
      const run = await loaded('run_1');
      expect(run.state).toEqual(two.after);
      expect(run.snapshotHead).toBe(state.head);
      expect(run.snapshotVersion).toBe(before.snapshotVersion);
    });

    test('with a snapshot writes it at the new head, and drops members that became absent', async () => {
      const state = await claimed('run_1');
      const { after, commit } = move(state, [succeeded('size'), release()], { snapshot: true });
      const result = await runs.commit(commit);
      const run = await loaded('run_1');
      expect(run.state).toEqual(after);
      expect(run.state).not.toHaveProperty('lease');
      expect(run.snapshotHead).toBe(after.head);
      expect(result).toEqual({ kind: 'committed', snapshotVersion: run.snapshotVersion });
    });

    test('at a place that is taken changes nothing at all', async () => {
      const state = await claimed('run_1');
      const ours = move(state, [succeeded('size')], { by: 'us' });
      const theirs = move(state, [succeeded('risk'), release()], { by: 'them', snapshot: true });
      expect(await runs.commit(ours.commit)).toMatchObject({ kind: 'committed' });
      expect(await runs.commit(theirs.commit)).toEqual({ kind: 'exists' });
      expect(await loaded('run_1')).toMatchObject({ state: ours.after, snapshotHead: state.head });
      expect(await runs.readEvents('run_1', state.head, 10)).toEqual(ours.commit.events);
      expect((await runs.listSteps('run_1', { limit: 10 })).items.map(({ id }) => id)).toEqual(['size']);
      expect((await runs.listCheckpoints('run_1', { limit: 10 })).items.map(({ seq }) => seq)).toEqual([
        4, 3,
      ]);
    });

    test('that overlaps the journal with its first event only changes nothing', async () => {
      const state = await claimed('run_1');
      const ours = move(state, [succeeded('size')]);
      await runs.commit(ours.commit);
      const longer = move(state, [succeeded('size'), succeeded('risk')], { by: 'them' });
      expect(await runs.commit(longer.commit)).toEqual({ kind: 'exists' });
      expect((await loaded('run_1')).state.head).toBe(ours.after.head);
    });

    test('sent again in the same bytes is refused, and the journal holds its events once', async () => {
      const state = await claimed('run_1');
      const { after, commit } = move(state, [succeeded('size')], { snapshot: true });
      await runs.commit(commit);
      expect(await runs.commit(commit)).toEqual({ kind: 'exists' });
      expect((await runs.readEvents('run_1', state.head, 10)).map(({ id }) => id)).toEqual([
        commit.events[0]?.id,
      ]);
      expect((await loaded('run_1')).state).toEqual(after);
    });

    test('of many writers at one place lets exactly one through', async () => {
      const state = await claimed('run_1');
      const writers = Array.from({ length: 20 }, (_, i) =>
        move(state, [succeeded(`s${i}`)], { by: `w${i}` }),
      );
      const results = await Promise.all(writers.map(({ commit }) => runs.commit(commit)));
      expect(results.filter(({ kind }) => kind === 'committed')).toHaveLength(1);
      const winner = writers[results.findIndex(({ kind }) => kind === 'committed')];
      expect((await loaded('run_1')).state).toEqual(winner?.after);
    });

    test('replaces the record of a step that ran before', async () => {
      const state = await claimed('run_1');
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

    test('that only a bug can ask for is refused with nothing applied', async () => {
      const state = await claimed('run_1');
      const { after, commit } = move(state, [succeeded('size'), succeeded('risk')], { snapshot: true });
      const flood = Array.from({ length: 120 }, (_, i) => succeeded(`s${i}`));
      const huge = succeeded('huge', { outputText: JSON.stringify('x'.repeat(7 * 1024 * 1024)) });
      const { snapshot: _, ...withoutSnapshot } = commit;
      const unsound = [
        { ...commit, events: [] },
        { ...commit, events: [...commit.events].reverse() },
        { ...commit, snapshot: { ...after, head: after.head + 1 } },
        { ...withoutSnapshot, soft: { heartbeat: true } },
        move(state, flood).commit,
        move(state, [huge]).commit,
      ];
      for (const wrong of unsound) await expect(runs.commit(wrong)).rejects.toThrow(/run run_1/);
      expect((await loaded('run_1')).state).toEqual(state);
    });
  });

  describe(`${name}: load`, () => {
    test('of no run is undefined', async () => {
      expect(await runs.load('run_none')).toBeUndefined();
      expect(await runs.load('run_a/events/0000000001')).toBeUndefined();
      expect(await runs.readEvents('run_none', 0, 10)).toEqual([]);
    });

    test('folds a tail of many pages', async () => {
      let state = await claimed('run_1');
      for (let i = 0; i < 7; i += 1) {
        const drafts = Array.from({ length: 95 }, (_, j) => succeeded(`s${i}-${j}`));
        const { after, commit } = move(state, drafts);
        await runs.commit(commit);
        state = after;
      }
      expect((await loaded('run_1')).state).toEqual(state);
      const page = await runs.readEvents('run_1', 100, 50);
      expect(page.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => 101 + i));
    });

    test('brings back waits, inbox, failures and everything else a state can hold', async () => {
      const start = beginning('run_1', {
        identity: {
          repoId: 'acme/app',
          prId: '7',
          prUrl: 'https://example.test/7',
          idempotencyKey: 'github:1',
          a2aCorrelationId: 'a2a',
          resumedFrom: 'run_0',
          source: { runId: 'run_0', checkpointId: '0000000003', mode: 'fork' },
          parent: { runId: 'run_p', stepId: 'child' },
          versions: { capabilities: 'v1', registryRef: 'r' },
          input: { checkpoint: 1 },
        },
      });
      await runs.start(start);
      const wait = {
        id: 'w',
        kind: 'approval',
        stepId: 'ask',
        revision: 2,
        openedAt: T0,
        dueAt: T0 + 99,
      } as const;
      const one = move(
        start.state,
        [
          ...claim(start.state, T0 + LEASE_MS),
          { type: 'wait_opened', data: { wait }, initiator: 'system' },
          {
            type: 'signal_received',
            data: { signalId: 's', name: 'n', payloadText: '[[1]]' },
            initiator: 'user',
            actor: 'u',
          },
          {
            type: 'cancel_requested',
            data: { stopKind: 'user', reason: 'enough' },
            initiator: 'user',
            actor: 'u',
          },
          { type: 'run_suspended', data: { status: 'awaiting_approval' }, initiator: 'system' },
        ],
        { snapshot: true },
      );
      await runs.commit(one.commit);
      expect((await loaded('run_1')).state).toEqual(one.after);

      const error = { code: 'E', message: 'm', stepId: 'ask', retryable: false, trace: 't' };
      const two = move(
        one.after,
        [
          { type: 'compensation_failed', data: { stepId: 'ask', revision: 1, error }, initiator: 'system' },
          { type: 'run_failed', data: { error }, initiator: 'system' },
          { type: 'run_superseded', data: { by: 'run_2' }, initiator: 'user' },
        ],
        { snapshot: true },
      );
      await runs.commit(two.commit);
      expect((await loaded('run_1')).state).toEqual(two.after);
      expect(await runs.readEvents('run_1', 0, 99)).toEqual([
        ...start.events,
        ...one.commit.events,
        ...two.commit.events,
      ]);
    });

    test('touches nothing that a newer version wrote', async () => {
      const newer = beginning('run_new');
      await runs.start({ ...newer, state: { ...newer.state, schemaVersion: 2 } });
      await expect(runs.load('run_new')).rejects.toThrow(NewerSchemaError);
      await expect(runs.listRuns({ tenantId: 'acme' }, { limit: 5 })).rejects.toThrow(NewerSchemaError);

      const state = await claimed('run_1');
      const { commit } = move(state, [succeeded('size')]);
      await runs.commit({
        ...commit,
        events: commit.events.map((event) => ({ ...event, schemaVersion: 2 })),
      });
      await expect(runs.load('run_1')).rejects.toThrow(NewerSchemaError);
      await expect(runs.readEvents('run_1', state.head, 5)).rejects.toThrow(NewerSchemaError);
      await expect(runs.listEvents('run_1', { limit: 5 })).rejects.toThrow(NewerSchemaError);
    });
  });

  describe(`${name}: touch`, () => {
    test('writes the snapshot of the version seen, without an event', async () => {
      const state = await claimed('run_1');
      const { after, commit } = move(state, [succeeded('size')]);
      await runs.commit(commit);
      const seen = (await loaded('run_1')).snapshotVersion;
      const touched = await runs.touch({ runId: 'run_1', seen, snapshot: after });
      const run = await loaded('run_1');
      expect(touched).toEqual({ kind: 'touched', snapshotVersion: run.snapshotVersion });
      expect(run).toMatchObject({ state: after, snapshotHead: after.head });
      expect(run.snapshotVersion).not.toBe(seen);
    });

    test('of another version than the one seen is stale and writes nothing', async () => {
      const state = await claimed('run_1');
      const seen = (await loaded('run_1')).snapshotVersion;
      await runs.touch({ runId: 'run_1', seen, wakeAt: T0 + 1_000 });
      const now = await loaded('run_1');
      expect(await runs.touch({ runId: 'run_1', seen, soft: { heartbeat: true } })).toEqual({
        kind: 'stale',
      });
      expect(await runs.touch({ runId: 'run_none', seen, wakeAt: T0 })).toEqual({ kind: 'stale' });
      const { after, commit } = move(state, [release()], { snapshot: true });
      await runs.commit(commit);
      expect(await runs.touch({ runId: 'run_1', seen: now.snapshotVersion, snapshot: state })).toEqual({
        kind: 'stale',
      });
      expect((await loaded('run_1')).state).toEqual(after);
    });

    test('stamps a heartbeat with the time of the store and keeps the rest of soft', async () => {
      const state = await claimed('run_1');
      const first = await loaded('run_1');
      stores.passTime(30_000);
      const at = stores.now();
      await runs.touch({
        runId: 'run_1',
        seen: first.snapshotVersion,
        soft: { heartbeat: true, leaseExtendedTo: T0 + 9_000_000 },
      });
      expect((await loaded('run_1')).soft).toEqual({ lastHeartbeatAt: at, leaseExtendedTo: T0 + 9_000_000 });

      stores.passTime(30_000);
      const second = await loaded('run_1');
      expect(second.readAt).toBe(at + 30_000);
      await runs.touch({ runId: 'run_1', seen: second.snapshotVersion, soft: { heartbeat: true } });
      expect((await loaded('run_1')).soft).toEqual({
        lastHeartbeatAt: at + 30_000,
        leaseExtendedTo: T0 + 9_000_000,
      });

      const { commit } = move(state, [succeeded('size')], { snapshot: true });
      await runs.commit(commit);
      expect((await loaded('run_1')).soft).toEqual({
        lastHeartbeatAt: at + 30_000,
        leaseExtendedTo: T0 + 9_000_000,
      });
    });

    test('that would write nothing is refused', async () => {
      await claimed('run_1');
      const { snapshotVersion: seen } = await loaded('run_1');
      await expect(runs.touch({ runId: 'run_1', seen, soft: { heartbeat: false } })).rejects.toThrow(
        /writes nothing/,
      );
    });
  });

  describe(`${name}: wakeAt`, () => {
    const wakesOf = async () => (await runs.dueRuns(T0 + 1e12, 100)).map(({ wakeAt: at }) => at);

    test('is what state and soft imply after every kind of write', async () => {
      const start = beginning('run_1');
      await runs.start(start);
      expect(await wakesOf()).toEqual([wakeAt(start.state)]);

      const held = move(start.state, claim(start.state, T0 + LEASE_MS), {
        snapshot: true,
        soft: { heartbeat: true, leaseExtendedTo: T0 + LEASE_MS + 7 },
      });
      await runs.commit(held.commit);
      expect(await wakesOf()).toEqual([T0 + LEASE_MS + 7]);

      const extended = await loaded('run_1');
      await runs.touch({
        runId: 'run_1',
        seen: extended.snapshotVersion,
        soft: { heartbeat: true, leaseExtendedTo: T0 + 999_999 },
      });
      expect(await wakesOf()).toEqual([T0 + 999_999]);

      const moved = await loaded('run_1');
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
