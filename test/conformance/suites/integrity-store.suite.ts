/** Contract of stores for checks and repairs. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import { seqId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { segmentId } from '../../../packages/cairn/src/core/logs/segment.ts';
import { seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { RepairCommit, RunReader } from '../../../packages/cairn/src/ports/runs/integrity-store.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, claim, idempotencyRecord, move, release, succeeded, T0 } from '../support/run-fixture.ts';

const RUN = 'run_1';
const KEY = 'api:c.caller:one';
const ALL = { after: undefined, limit: 100 };

export function integrityStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    let state: RunState;
    beforeEach(async () => {
      stores = await harness.make();
      const start = beginning(RUN, { records: [{ record: idempotencyRecord(KEY) }] });
      await stores.runs.start(start);
      state = start.state;
      const steps = ['a', 'b[1/2]', 'c'].map((stepId) => succeeded(stepId));
      await append([...claim(state, T0 + 1_000), ...steps, release()], true);
    });
    afterAll(() => harness.close());

    async function append(drafts: readonly EventDraft[], snapshot: boolean): Promise<void> {
      const { after, commit } = move(state, drafts, { snapshot });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
      state = after;
    }

    const look = <T>(ask: (reader: RunReader) => Promise<T>) => stores.integrity.atOneMoment(RUN, ask);

    /** A repair that rewrites the current state. */
    async function repairOf(changes: Partial<RepairCommit> = {}): Promise<RepairCommit> {
      const draft: EventDraft = {
        type: 'snapshot_repaired',
        initiator: 'user',
        data: { beforeHash: 'x', afterHash: 'y' },
      };
      const event = seal(draft, { chain: state, id: 'repair', now: T0 });
      const { found } = await look((reader) => reader.snapshot());
      const snapshot = {
        seen: found?.version,
        state: reduce(state, event),
        metadata: found?.metadata ?? {},
        isMetadataDamaged: false,
      };
      return { runId: RUN, event, snapshot, steps: [], checkpoints: [], ...changes };
    }

    test('reads every document of a run, and the outputs as fingerprints', async () => {
      const { snapshot, events, checkpoints, steps } = await look(async (reader) => ({
        snapshot: await reader.snapshot(),
        events: await reader.events(ALL),
        checkpoints: await reader.checkpoints(ALL),
        steps: await reader.steps(ALL),
      }));
      expect(snapshot.readAt).toBe(stores.now());
      expect(snapshot.found).toMatchObject({
        kind: 'sound',
        value: { head: state.head, status: state.status },
        metadata: {},
        metadataDamage: [],
        tenantId: 'acme',
        headHash: state.headHash,
        wakeAt: expect.any(Number),
      });
      expect(events.map(({ id }) => id)).toEqual(Array.from({ length: state.head }, (_, i) => seqId(i + 1)));
      const [first] = checkpoints.slice(-1);
      expect(first).toMatchObject({ kind: 'sound', value: { outputSha: sha256Hex('{"ok":true}') } });
      expect(JSON.stringify(checkpoints)).not.toContain('outputText');
      expect(steps.map(({ id }) => id)).toEqual(['a', 'b%5B1%2F2%5D', 'c']);
      expect(await look((reader) => reader.record(KEY))).toMatchObject({
        kind: 'sound',
        value: { key: KEY },
      });
    });

    test('a run repaired without its volatile metadata is deleted with the lines that it had', async () => {
      const seen = (await stores.runs.load(RUN))?.snapshotVersion ?? '';
      const line = { kind: 'log', at: T0, level: 'info', step: 'a', revision: 1, attempt: 1 } as const;
      const segment = { id: segmentId(1, 1), lines: [{ ...line, message: 'x' }] };
      const metadata = { heartbeat: true, logged: { segment, totals: { lines: 1, bytes: 9, dropped: 0 } } };
      expect(await stores.runs.touch({ runId: RUN, seen, metadata })).toMatchObject({ kind: 'touched' });
      const { snapshot, ...rest } = await repairOf();
      const repaired = { ...rest, snapshot: { ...snapshot, metadata: {}, isMetadataDamaged: true } };
      expect(await stores.integrity.repair(repaired)).toMatchObject({ kind: 'repaired' });
      for (let more = true; more; ) ({ more } = await stores.retention.deleteUnder(RUN, 100));
      expect(await stores.logs.readLogs(RUN, undefined, 1)).toEqual([]);
    });

    test('reports missing documents as missing', async () => {
      const nowhere = await stores.integrity.atOneMoment('run_none', async (reader) => [
        (await reader.snapshot()).found,
        await reader.events(ALL),
        await reader.checkpoints(ALL),
        await reader.steps(ALL),
        await reader.effectsOfRun({ after: undefined, limit: 10 }),
        await reader.effects([`${'0'.repeat(64)}.0001`]),
        await reader.effects([]),
        await reader.record('api:c.caller:none'),
        await reader.mailbox({ tenantId: 'acme', event: 'e', key: 'k' }),
      ]);
      expect(nowhere).toEqual([undefined, [], [], [], [], [], [], undefined, undefined]);
      expect(await stores.integrity.outputText(RUN, 1)).toBeUndefined();
      expect(await stores.integrity.outputText(RUN, 4)).toBe('{"ok":true}');
    });

    test('lists continue after the last document read', async () => {
      const page = await look((reader) => reader.events({ after: undefined, limit: 2 }));
      expect(page.map(({ id }) => id)).toEqual([seqId(1), seqId(2)]);
      const next = await look((reader) => reader.events({ after: seqId(2), limit: 2 }));
      expect(next.map(({ id }) => id)).toEqual([seqId(3), seqId(4)]);
      const steps = await look((reader) => reader.steps({ after: 'a', limit: 1 }));
      expect(steps.map(({ id }) => id)).toEqual(['b%5B1%2F2%5D']);
    });

    test('a read is consistent, however the run changes meanwhile', async () => {
      const { head } = state;
      const seen = await look(async (reader) => {
        const { found } = await reader.snapshot();
        await append([...claim(state, T0 + 2_000)], true);
        return { found, events: await reader.events(ALL) };
      });
      expect(seen.events).toHaveLength(head);
      expect(await look((reader) => reader.events(ALL))).toHaveLength(head + 1);
    });

    test('a repair is written completely or not at all', async () => {
      const { steps, checkpoints } = await look(async (reader) => ({
        steps: await reader.steps(ALL),
        checkpoints: await reader.checkpoints(ALL),
      }));
      const [a, b] = steps;
      const [first] = checkpoints;
      if (a?.kind !== 'sound' || !b || first?.kind !== 'sound') throw new Error('documents are missing');
      const put = {
        steps: [
          { id: a.id, seen: a.version, value: { ...a.value, outputsSummary: 'anew' } },
          { id: b.id, seen: b.version, value: undefined },
          { id: 'd', seen: undefined, value: { ...a.value, id: 'd' } },
        ],
        checkpoints: [{ id: first.id, seen: first.version, value: { ...first.value.checkpoint, parent: 9 } }],
      };
      for (const stale of [
        { ...put, steps: [...put.steps, { id: 'c', seen: undefined, value: { ...a.value, id: 'c' } }] },
        { ...put, checkpoints: put.checkpoints.map((one) => ({ ...one, seen: undefined })) },
        { ...put, snapshot: { ...(await repairOf()).snapshot, seen: undefined } },
      ]) {
        expect(await stores.integrity.repair(await repairOf(stale))).toEqual({ kind: 'stale' });
      }
      expect(await look((reader) => reader.steps(ALL))).toHaveLength(3);

      const commit = await repairOf(put);
      expect(await stores.integrity.repair(commit)).toMatchObject({ kind: 'repaired' });
      const after = await look(async (reader) => ({
        snapshot: (await reader.snapshot()).found,
        steps: await reader.steps(ALL),
        checkpoints: await reader.checkpoints(ALL),
      }));
      expect(after.snapshot).toMatchObject({ kind: 'sound', value: { head: state.head + 1 } });
      expect(after.steps.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
      expect(after.steps[0]).toMatchObject({ value: { outputsSummary: 'anew' } });
      expect(after.checkpoints[0]).toMatchObject({ value: { checkpoint: { parent: 9 } } });
      expect((await stores.runs.load(RUN))?.state.head).toBe(state.head + 1);
      // Repeating it is stale and writes nothing.
      expect(await stores.integrity.repair(commit)).toEqual({ kind: 'stale' });
    });

    test('a repair of a run that has changed meanwhile writes nothing', async () => {
      const commit = await repairOf();
      await append([...claim(state, T0 + 2_000)], false);
      expect(await stores.integrity.repair(commit)).toEqual({ kind: 'stale' });
      expect(await look((reader) => reader.events(ALL))).toHaveLength(state.head);
    });

    describe('a sample', () => {
      const start = (runId: string, tenantId: string, at: number) => {
        const record = idempotencyRecord(`api:c.caller:${runId}`, {
          runId,
          tenantId,
          createdAt: at,
          expiresAt: at + 86_400_000,
        });
        return stores.runs.start(beginning(runId, { at, identity: { tenantId }, records: [{ record }] }));
      };

      beforeEach(async () => {
        await start('run_b', 'acme', T0 + 3_000);
        await start('run_c', 'acme', T0 + 2_000);
        await start('run_d', 'other', T0 + 4_000);
      });

      test('has the newest runs of a tenant, and those after an id', async () => {
        expect(await stores.sample.newest('acme', 2)).toEqual(['run_b', 'run_c']);
        expect(await stores.sample.newest('nobody', 2)).toEqual([]);
        expect(await stores.sample.following('run_1', 2)).toEqual(['run_b', 'run_c']);
        expect(await stores.sample.following('run_c', 5)).toEqual(['run_d']);
      });

      test('has the starts since a time, and which of their runs exist', async () => {
        expect(await stores.sample.startedSince(T0 + 2_500, 5)).toEqual([
          { runId: 'run_b', tenantId: 'acme' },
          { runId: 'run_d', tenantId: 'other' },
        ]);
        expect(await stores.sample.startedSince(T0 + 2_500, 1)).toHaveLength(1);
        expect(await stores.sample.existing(['run_b', 'run_none', 'run_d'])).toEqual(
          new Set(['run_b', 'run_d']),
        );
        expect(await stores.sample.existing([])).toEqual(new Set());
      });
    });

    test('volatile metadata is unchanged by a repair', async () => {
      await append([...claim(state, T0 + 2_000)], true);
      const seen = (await stores.runs.load(RUN))?.snapshotVersion ?? '';
      const metadata = { heartbeat: true, leaseExtendedTo: T0 + 9_000 };
      expect(await stores.runs.touch({ runId: RUN, seen, metadata })).toMatchObject({ kind: 'touched' });
      expect(await stores.integrity.repair(await repairOf())).toMatchObject({ kind: 'repaired' });
      const { found } = await look((reader) => reader.snapshot());
      expect(found?.metadata).toMatchObject({
        leaseExtendedTo: T0 + 9_000,
        lastHeartbeatAt: expect.any(Number),
      });
      expect(found?.wakeAt).toBe(T0 + 9_000);
    });
  });
}
