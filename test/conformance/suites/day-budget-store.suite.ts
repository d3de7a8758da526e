/** Contract of stores of daily budgets. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type DayBudget, newDayBudget } from '../../../packages/cairn/src/core/budget/day.ts';
import type { DayBudgetStore } from '../../../packages/cairn/src/ports/runs/day-budget-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const EMPTY = newDayBudget({ tenantId: 't1', day: '2026-11-23', limits: { microUsd: 1_000_000 } });
const FULL: DayBudget = {
  ...EMPTY,
  limits: { microUsd: 1_000_000, tokens: 5, effects: 7, operations: 9 },
  raised: { tokens: 3 },
  raises: [{ id: 'run_1 ask.1.1.day', by: 'c.ada', at: T0, amounts: { tokens: 3 } }],
  spent: { microUsd: 400_000 },
  holds: [{ owner: 'a', granted: { microUsd: 100, effects: 1 }, expiresAt: T0 }],
  largest: { 'w:ask': { microUsd: 12, tokens: 4 } },
};

export function dayBudgetStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: DayBudgetStore;
    beforeEach(async () => {
      store = (await harness.make()).dayBudgets;
    });
    afterAll(() => harness.close());

    const written = async (budget: DayBudget, seen?: string) => {
      const result = await store.write(budget, seen);
      if (result.kind !== 'written') throw new Error('another was faster');
      return result.version;
    };

    test('a day without a budget, another tenant and another day read as absent', async () => {
      await written(EMPTY);
      expect(await store.read('t2', EMPTY.day)).toBeUndefined();
      expect(await store.read('t1', '2026-11-24')).toBeUndefined();
    });

    test('a budget reads back unchanged, with the version that the write returned', async () => {
      const first = await written(FULL);
      expect(await store.read('t1', FULL.day)).toEqual({ budget: FULL, version: first });
      const second = await written(EMPTY, first);
      expect(second).not.toBe(first);
      expect(await store.read('t1', FULL.day)).toEqual({ budget: EMPTY, version: second });
    });

    test('tenant ids of any characters are separate', async () => {
      const ids = ['a/b', 'ä@ö', '2026-11-23@t', '..', 'x'.repeat(200)];
      for (const tenantId of ids) await written({ ...EMPTY, tenantId });
      for (const tenantId of ids)
        expect((await store.read(tenantId, EMPTY.day))?.budget.tenantId).toBe(tenantId);
    });

    test('a write under another version, or a second creation, changes nothing', async () => {
      const version = await written(EMPTY);
      expect(await store.write(FULL, undefined)).toEqual({ kind: 'stale' });
      const next = await written({ ...EMPTY, spent: { microUsd: 1 } }, version);
      expect(await store.write(FULL, version)).toEqual({ kind: 'stale' });
      expect(await store.read('t1', EMPTY.day)).toMatchObject({
        budget: { spent: { microUsd: 1 } },
        version: next,
      });
    });

    test('one of several concurrent writes under the same version succeeds', async () => {
      const version = await written(EMPTY);
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.write({ ...EMPTY, spent: { microUsd: i + 1 } }, version)),
      );
      expect(results.filter(({ kind }) => kind === 'written').length).toBe(1);
    });
  });
}
