/** Contract of run stores: starts. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, idempotencyRecord, T0 } from '../support/run-fixture.ts';
import { loaded } from './runs.ts';

export function startClaims(current: () => Stores): void {
  let stores: Stores;
  let runs: RunStore;
  beforeEach(() => {
    stores = current();
    runs = stores.runs;
  });

  describe('start', () => {
    test('creates run, first event and records, which read back unchanged', async () => {
      const record = idempotencyRecord('api:c.1:k');
      const start = beginning('run_1', { records: [{ record }] });
      const result = await runs.start(start);
      expect(result).toEqual({ kind: 'committed', snapshotVersion: expect.any(String) });

      const run = await loaded(runs, 'run_1');
      expect(run).toEqual({
        state: start.state,
        metadata: {},
        snapshotHead: 1,
        snapshotVersion: result.kind === 'committed' ? result.snapshotVersion : undefined,
        readAt: stores.now(),
        reads: 1,
        tailWrites: 0,
      });
      expect(await runs.readEvents('run_1', 0, 10)).toEqual(start.events);
      expect((await stores.idempotency.read(record.key))?.record).toEqual(record);
    });

    test('of an existing run changes nothing', async () => {
      const first = beginning('run_1');
      await runs.start(first);
      const record = idempotencyRecord('api:c.1:k');
      const second = beginning('run_1', { eventId: 'other', at: T0 + 5, records: [{ record }] });
      expect(await runs.start(second)).toEqual({ kind: 'exists' });
      expect((await loaded(runs, 'run_1')).state).toEqual(first.state);
      expect(await stores.idempotency.read(record.key)).toBeUndefined();
    });

    test('with an existing record creates no run and no other record', async () => {
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
      'with a record to replace that was %s creates nothing',
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

    test('under one key succeeds exactly once among many concurrent ones', async () => {
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
}
