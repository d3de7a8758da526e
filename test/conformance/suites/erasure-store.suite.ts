/** Contract of stores of erasures. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mailboxId } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import { type Erasure, erasureId, tenantHash } from '../../../packages/cairn/src/core/retention/erasure.ts';
import type { ErasureStore } from '../../../packages/cairn/src/ports/runs/erasure-store.ts';
import { stored as schedule } from '../../operations/schedules/scene.ts';
import type { Harness, Stores } from '../support/harness.ts';
import { beginning, idempotencyRecord, T0 } from '../support/run-fixture.ts';
import { KEY, row } from './rows.ts';

const erasure = (name: string, changes: Partial<Erasure> = {}): Erasure => ({
  id: erasureId('acme', name),
  scope: 'tenant',
  tenantHash: tenantHash('acme'),
  tenantId: 'acme',
  roots: ['run_1', 'run_2'],
  state: 'open',
  keptBy: { why: 'held', runId: 'run_1' },
  gone: { runs: 1, documents: 2, effects: 3, records: 4, waits: 5, schedules: 6, published: 7 },
  requestedAt: T0,
  ...changes,
});

export function erasureStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    let store: ErasureStore;
    beforeEach(async () => {
      stores = await harness.make();
      store = stores.erasures;
    });
    afterAll(() => harness.close());

    test('creates an erasure once, and replaces the version last seen as a whole', async () => {
      const first = erasure('1');
      expect(await store.read(first.id)).toBeUndefined();
      expect(await store.create(first)).toEqual({ kind: 'created' });
      expect(await store.create({ ...first, state: 'done' })).toEqual({ kind: 'exists' });
      const found = await store.read(first.id);
      expect(found?.erasure).toEqual(first);
      const seen = found?.version ?? '';
      const { tenantId: _, keptBy: __, ...rest } = first;
      const run = { runId: 'run_1', createdAt: T0 };
      const position = { run, record: 'api:c.ci:1', mailbox: 'a', mustRepeat: true };
      expect(await store.write({ ...first, position }, seen)).toEqual({ kind: 'written' });
      const open = await store.read(first.id);
      expect(open?.erasure).toEqual({ ...first, position });
      const done: Erasure = { ...rest, roots: [], state: 'done', finishedAt: T0 + 1 };
      expect(await store.write(done, open?.version ?? '')).toEqual({ kind: 'written' });
      expect(await store.write(first, seen)).toEqual({ kind: 'stale' });
      expect((await store.read(first.id))?.erasure).toEqual(done);
    });

    test('finds open erasures, up to the limit, and those after one that is known', async () => {
      for (const one of ['1', '2', '3']) await store.create(erasure(one));
      await store.create(erasure('4', { state: 'done' }));
      const open = await store.open(undefined, 10);
      expect(open.map(({ id }) => id)).toEqual(['1', '2', '3'].map((one) => erasureId('acme', one)).sort());
      expect(await store.open(undefined, 2)).toEqual(open.slice(0, 2));
      expect(await store.open(open[0]?.id, 1)).toEqual(open.slice(1, 2));
      expect(await store.open(open[2]?.id, 10)).toEqual([]);
      const [one] = open;
      if (!one || one.unreadable) throw new Error('the erasure is unreadable');
      const { version } = one.stored;
      expect(await store.write({ ...erasure('1'), id: one.id }, version)).toEqual({ kind: 'written' });
    });

    test('lists erasures page by page, the newest first, of one tenant or of all', async () => {
      const hash = { scope: 'lineage', tenantHash: tenantHash('rival') } as const;
      await store.create(erasure('1', { requestedAt: T0 + 1, requestedBy: 'key.ops' }));
      await store.create(erasure('2', { requestedAt: T0 + 3, state: 'done' }));
      await store.create(erasure('3', { ...hash, requestedAt: T0 + 2 }));
      const id = (name: string) => erasureId('acme', name);
      const first = await store.list(undefined, { limit: 2 });
      expect(first.items.map((one) => one.id)).toEqual([id('2'), id('3')]);
      const rest = await store.list(undefined, { limit: 2, cursor: first.next ?? '' });
      expect(rest).toEqual({ items: [erasure('1', { requestedAt: T0 + 1, requestedBy: 'key.ops' })] });
      const own = await store.list(tenantHash('acme'), { limit: 10 });
      expect(own.items.map((one) => one.id)).toEqual([id('2'), id('1')]);
      await expect(store.list(undefined, { limit: 2, cursor: 'none' })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    });

    test('lists the runs of a tenant page by page, the newest first, including marked ones', async () => {
      for (const [i, tenantId] of ['acme', 'acme', 'other', 'acme', 'acme'].entries()) {
        const identity = { tenantId, rootRunId: `run_${i}` };
        await stores.runs.start(beginning(`run_${i}`, { at: T0 + Math.min(i, 3), identity }));
      }
      const [member] = await stores.retention.lineage('run_1', 1);
      await stores.retention.mark('run_1', member?.version ?? '', T0);
      const listing = { tenantId: 'acme', until: T0 + 3, limit: 2 };
      const first = await store.runsOf({ ...listing, after: undefined });
      expect(first).toEqual([
        { runId: 'run_4', rootRunId: 'run_4', createdAt: T0 + 3 },
        { runId: 'run_3', rootRunId: 'run_3', createdAt: T0 + 3 },
      ]);
      const second = await store.runsOf({ ...listing, after: first.at(-1) });
      expect(second.map(({ runId }) => runId)).toEqual(['run_1', 'run_0']);
      expect(await store.runsOf({ ...listing, after: second.at(-1) })).toEqual([]);
      expect(await store.runsOf({ ...listing, until: T0, after: undefined })).toHaveLength(1);
    });

    test('deletes records of a run or a tenant in parts, and no others', async () => {
      const { idempotency } = stores;
      for (let i = 0; i < 3; i += 1) await idempotency.create(idempotencyRecord(`k${i}`, { runId: 'run_1' }));
      await idempotency.create(idempotencyRecord('k3', { runId: 'run_2' }));
      await idempotency.create(idempotencyRecord('k4', { runId: 'run_3', tenantId: 'other' }));
      expect(await store.deleteRecordsOfRun('run_1', 2)).toEqual({ deleted: 2, more: true });
      expect(await store.deleteRecordsOfRun('run_1', 2)).toEqual({ deleted: 1, more: false });
      expect(await store.deleteRecordsOfRun('run_1', 2)).toEqual({ deleted: 0, more: false });
      const all = { tenantId: 'acme', until: T0, after: undefined };
      expect(await store.deleteRecords(all, 2)).toEqual({ deleted: 1, more: false, lastKey: 'k3' });
      expect(await idempotency.read('k3')).toBeUndefined();
      expect(await idempotency.read('k4')).toBeDefined();
    });

    test('deletes records of a tenant that were created by a time, and continues after the newer ones', async () => {
      const { idempotency } = stores;
      for (const [i, createdAt] of [T0 + 1, T0 + 1, T0 + 1, T0, T0 + 1, T0 - 1].entries())
        await idempotency.create(idempotencyRecord(`k${i}`, { createdAt }));
      const older = { tenantId: 'acme', until: T0 };
      const first = await store.deleteRecords({ ...older, after: undefined }, 2);
      expect(first).toEqual({ deleted: 0, more: true, lastKey: 'k1' });
      const second = await store.deleteRecords({ ...older, after: first.lastKey }, 2);
      expect(second).toEqual({ deleted: 1, more: true, lastKey: 'k3' });
      const third = await store.deleteRecords({ ...older, after: second.lastKey }, 2);
      expect(third).toEqual({ deleted: 1, more: false, lastKey: 'k5' });
      const left = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => idempotency.read(`k${i}`)));
      expect(left.map((one) => one !== undefined)).toEqual([true, true, true, false, true, false]);
    });

    test('lists mailboxes of one tenant page by page', async () => {
      for (const [tenantId, key] of [
        ['acme', '1'],
        ['acme', '2'],
        ['other', '1'],
      ] as const) {
        const address = { tenantId, event: 'built', key };
        await stores.mailboxes.write(
          address,
          { ...address, waiting: [], buffered: [], delivered: [] },
          undefined,
        );
      }
      const [first] = await store.mailboxesOf('acme', undefined, 1);
      const [second, ...none] = await store.mailboxesOf('acme', first && mailboxId(first), 2);
      expect([first?.key, second?.key].sort()).toEqual(['1', '2']);
      expect(first).toMatchObject({ tenantId: 'acme', event: 'built' });
      expect(none).toEqual([]);
      expect(await store.mailboxesOf('acme', second && mailboxId(second), 2)).toEqual([]);
    });

    test('deletes schedules of a tenant that were created by a time', async () => {
      const older = { tenantId: 'acme', until: T0 };
      for (const [id, changes] of Object.entries({
        sch_1: { tenantId: 'acme', createdAt: T0 - 1 },
        sch_2: { tenantId: 'acme', createdAt: T0 },
        sch_3: { tenantId: 'acme', createdAt: T0 + 1 },
        sch_4: { tenantId: 'other', createdAt: T0 },
      }))
        await stores.schedules.create(schedule({ id, ...changes }));
      expect(await store.deleteSchedules(older, 1)).toEqual({ deleted: 1, more: true });
      expect(await store.deleteSchedules(older, 1)).toEqual({ deleted: 1, more: false });
      expect(await store.deleteSchedules(older, 1)).toEqual({ deleted: 0, more: false });
      expect(await stores.schedules.read('sch_3')).toBeDefined();
      expect(await stores.schedules.read('sch_4')).toBeDefined();
    });

    test('deletes rows of a tenant without a run with their large results, in parts, and no other rows', async () => {
      const owners = ['external:acme:a', 'external:acme:b', 'external:acme2:a', 'run_1', 'external:acme:c'];
      const text = JSON.stringify('x'.repeat(300_000));
      const ref = await stores.runs.writePayload(owners[0] ?? '', text);
      const answer = (runId: string) => ({
        status: 'recorded' as const,
        responseHash: ref.sha256,
        recordedResultRef: { runId, ...ref },
      });
      for (const [i, runId] of owners.entries()) {
        const large = i === 0 && answer(runId);
        const newer = i === 4 && { createdAt: T0 + 1 };
        await stores.effects.create(row({ n: i + 1, runId, createdAt: T0, ...large, ...newer }));
      }
      const older = { tenantId: 'acme', until: T0 };
      expect(await store.deleteExternalEffects(older, 1)).toEqual({ deleted: 1, more: true });
      expect(await store.deleteExternalEffects(older, 1)).toEqual({ deleted: 1, more: false });
      expect((await stores.effects.rowsOf(KEY)).map(({ record }) => record.n)).toEqual([5, 4, 3]);
      await expect(stores.runs.readPayload(owners[0] ?? '', ref)).rejects.toThrow();
    });
  });
}
