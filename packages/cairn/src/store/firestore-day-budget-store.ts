/** Budgets of tenants and days in Firestore. Amounts are JSON text: each document is read and written as a whole. */
import type { Firestore } from '@google-cloud/firestore';
import type { DayBudget } from '../core/budget/day.ts';
import type { Version } from '../ports/run-store.ts';
import {
  DAY_BUDGET_KEPT_MS,
  type DayBudgetStore,
  type DayBudgetWritten,
  type StoredDayBudget,
} from '../ports/runs/day-budget-store.ts';
import { call, isStale, isTaken } from './call.ts';
import { documentCodec, json, text, time } from './codec/kinds.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export const dayBudgetCodec = documentCodec<DayBudget & { readonly expiresAt: number }>({
  tenantId: text,
  day: text,
  limits: json(),
  raised: json(),
  raises: json(),
  spent: json(),
  holds: json(),
  largest: json(),
  expiresAt: time,
});

export class FirestoreDayBudgetStore implements DayBudgetStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(tenantId: string, day: string): Promise<StoredDayBudget | undefined> {
    const document = this.#paths.budget(tenantId, day);
    const found = await call('read of a budget', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    const { expiresAt: _, ...budget } = dayBudgetCodec.decode(data, `budget of ${day} of ${tenantId}`);
    return { budget, version: versionOf(found.updateTime) };
  }

  async write(budget: DayBudget, seen: Version | undefined): Promise<DayBudgetWritten> {
    const { tenantId, day } = budget;
    const document = this.#paths.budget(tenantId, day);
    const members = dayBudgetCodec.encode({ ...budget, expiresAt: Date.parse(day) + DAY_BUDGET_KEPT_MS });
    try {
      const { writeTime } = await call('write of a budget', () =>
        seen === undefined ? document.create(members) : document.update(members, lastUpdateTime(seen)),
      );
      return { kind: 'written', version: versionOf(writeTime) };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}
