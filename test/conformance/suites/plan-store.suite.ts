/** Contract of stores of plans. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PlanStore, StoredPlan } from '../../../packages/cairn/src/ports/runs/plan-store.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const PLAN: StoredPlan = {
  type: 'order',
  planVersion: 3,
  fingerprint: '1:abc',
  planText: '{"steps":{}}',
  createdAt: T0,
  by: 'run_1',
};

export function planStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: PlanStore;
    beforeEach(async () => {
      store = (await harness.make()).plans;
    });
    afterAll(() => harness.close());

    test('a version without runs has no plan', async () => {
      expect(await store.read('order', 3)).toBeUndefined();
    });

    test('a plan reads back unchanged, with and without its text', async () => {
      const { planText: _, ...bare } = PLAN;
      expect(await store.create(PLAN)).toBe('created');
      expect(await store.create({ ...bare, planVersion: 4 })).toBe('created');
      expect(await store.read('order', 3)).toEqual(PLAN);
      expect(await store.read('order', 4)).toEqual({ ...bare, planVersion: 4 });
    });

    test('the first plan of a version is kept, whoever creates it again', async () => {
      await store.create(PLAN);
      expect(await store.create({ ...PLAN, fingerprint: '1:other', by: 'run_2' })).toBe('exists');
      expect(await store.read('order', 3)).toEqual(PLAN);
    });

    test('one of many concurrent creations succeeds, and versions and types are separate', async () => {
      const plans = Array.from({ length: 5 }, (_, i) => ({ ...PLAN, by: `run_${i}` }));
      const answers = await Promise.all(plans.map((plan) => store.create(plan)));
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
      expect(await store.create({ ...PLAN, type: 'order-3', planVersion: 3 })).toBe('created');
      expect(await store.create({ ...PLAN, planVersion: 33 })).toBe('created');
    });
  });
}
