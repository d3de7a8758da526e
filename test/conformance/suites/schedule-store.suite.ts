/** Contract of schedule stores. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Schedule } from '../../../packages/cairn/src/core/schedule/schedule.ts';
import type { ScheduleStore } from '../../../packages/cairn/src/ports/schedule-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

function schedule(id: string, changes: Partial<Schedule> = {}): Schedule {
  return {
    id,
    tenantId: 'acme',
    origin: 'stored',
    state: 'active',
    type: 'nightly-cleanup',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    input: { nested: [[1], [{ __reserved__: '🪨' }]] },
    catchUp: 'all',
    settledUntil: T0,
    nextAt: T0 + 60_000,
    fired: 1,
    skipped: 2,
    refused: 3,
    createdAt: T0,
    updatedAt: T0 + 1,
    ...changes,
  };
}

const { nextAt: _, ...RESTING } = schedule('sch_resting', { state: 'paused' });

const FULL = schedule('sch_full', {
  name: 'Every night',
  createdBy: 'c.ops',
  last: { slot: T0, at: T0 + 5, runId: 'run_1' },
  lastCatchUp: { at: T0, policy: 'all', from: T0 - 9, until: T0 - 1, missed: 4, more: true, made: 4 },
});

const REFUSED: Schedule = {
  ...RESTING,
  pause: { since: T0, by: 'c.ops', reason: 'too loud' },
  last: { slot: T0, at: T0 + 5, error: { code: 'INVALID_INPUT', message: 'input.x: missing' } },
};

export function scheduleStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: ScheduleStore;
    beforeEach(async () => {
      store = (await harness.make()).schedules;
    });
    afterAll(() => harness.close());

    async function versionOf(id: string): Promise<string> {
      const stored = await store.read(id);
      if (!stored) throw new Error(`${id} is not there`);
      return stored.version;
    }

    test('a schedule that was never created is missing', async () => {
      expect(await store.read('sch_none')).toBeUndefined();
      expect(await store.due(T0, 10)).toEqual([]);
      expect(await store.list('acme', { limit: 10 })).toEqual({ items: [] });
    });

    test.each([
      ['with all it can have', FULL],
      ['that rests', RESTING],
      ['whose last slot was refused', REFUSED],
      ['with an input that is no object', schedule('sch_null', { input: null })],
      ['of a workflow', schedule('nightly-cleanup.weekly', { origin: 'declared', state: 'withdrawn' })],
    ])('one %s reads back unchanged', async (_, value) => {
      expect(await store.create(value)).toEqual({ kind: 'created' });
      expect((await store.read(value.id))?.schedule).toEqual(value);
    });

    test('a second creation of an id changes nothing', async () => {
      await store.create(FULL);
      expect(await store.create({ ...FULL, name: 'other' })).toEqual({ kind: 'exists' });
      expect((await store.read(FULL.id))?.schedule).toEqual(FULL);
    });

    test('a replacement keeps nothing of the earlier schedule', async () => {
      await store.create(FULL);
      const bare: Schedule = { ...RESTING, id: FULL.id };
      expect(await store.write(bare, await versionOf(FULL.id))).toEqual({ kind: 'written' });
      expect((await store.read(FULL.id))?.schedule).toEqual(bare);
    });

    test('a write over another version changes nothing', async () => {
      await store.create(FULL);
      const version = await versionOf(FULL.id);
      const newer = { ...FULL, fired: 2 };
      await store.write(newer, version);
      expect(await store.write({ ...FULL, fired: 9 }, version)).toEqual({ kind: 'stale' });
      expect(await store.remove(FULL.id, version)).toEqual({ kind: 'stale' });
      expect((await store.read(FULL.id))?.schedule).toEqual(newer);
    });

    test('a deleted schedule cannot be replaced', async () => {
      await store.create(FULL);
      const version = await versionOf(FULL.id);
      expect(await store.remove(FULL.id, version)).toEqual({ kind: 'written' });
      expect(await store.read(FULL.id)).toBeUndefined();
      expect(await store.write(FULL, version)).toEqual({ kind: 'stale' });
      expect(await store.remove(FULL.id, version)).toEqual({ kind: 'stale' });
    });

    test('exactly one of many concurrent writes succeeds', async () => {
      await store.create(FULL);
      const version = await versionOf(FULL.id);
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.write({ ...FULL, fired: i }, version)),
      );
      const winners = results.flatMap(({ kind }, i) => (kind === 'written' ? [i] : []));
      expect(winners).toHaveLength(1);
      expect((await store.read(FULL.id))?.schedule.fired).toBe(winners[0]);
    });

    test('active schedules whose time has come are due, the most overdue first', async () => {
      const at = (id: string, nextAt: number, changes: Partial<Schedule> = {}) =>
        store.create(schedule(id, { nextAt, ...changes }));
      await at('sch_c', T0);
      await at('sch_a', T0 - 1);
      await at('sch_b', T0 - 2, { tenantId: 'other' });
      await at('sch_later', T0 + 1);
      await store.create(RESTING);
      const all = await store.due(T0, 10);
      expect(all).toEqual([
        { id: 'sch_b', nextAt: T0 - 2 },
        { id: 'sch_a', nextAt: T0 - 1 },
        { id: 'sch_c', nextAt: T0 },
      ]);
      expect(await store.due(T0, 2)).toEqual(all.slice(0, 2));
      expect(await store.due(T0, 2, all[1])).toEqual(all.slice(2));
    });

    test('a list has the schedules of one tenant, newest first, page by page', async () => {
      for (const i of [1, 2, 3, 4, 5]) await store.create(schedule(`sch_${i}`, { createdAt: T0 + (i >> 1) }));
      await store.create(schedule('sch_other', { tenantId: 'other' }));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list('acme', { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(seen).toEqual(['sch_5', 'sch_4', 'sch_3', 'sch_2', 'sch_1']);
      await expect(store.list('acme', { limit: 2, cursor: 'nonsense' })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    });
  });
}
