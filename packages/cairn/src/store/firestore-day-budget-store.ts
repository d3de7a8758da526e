/** Budgets of tenants and days in Firestore. Amounts are JSON text: each document is read and written as a whole. */
import type { DayBudget } from '../core/budget/day.ts';
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import {
  DAY_BUDGET_KEPT_MS,
  type DayBudgetStore,
  type StoredDayBudget,
} from '../ports/runs/day-budget-store.ts';
import { documentCodec, json, text, time } from './codec/kinds.ts';
import { FirestoreStore } from './firestore-store.ts';
import { readVersioned, writeVersioned } from './versioned-document.ts';

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

export class FirestoreDayBudgetStore extends FirestoreStore implements DayBudgetStore {
  async read(tenantId: string, day: string): Promise<StoredDayBudget | undefined> {
    const named = { what: 'read of a budget', name: `budget of ${day} of ${tenantId}` };
    const found = await readVersioned(this.paths.budget(tenantId, day), dayBudgetCodec, named);
    if (!found) return undefined;
    const { expiresAt: _, ...budget } = found.value;
    return { budget, version: found.version };
  }

  async write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult> {
    const { tenantId, day } = budget;
    const members = dayBudgetCodec.encode({ ...budget, expiresAt: Date.parse(day) + DAY_BUDGET_KEPT_MS });
    return writeVersioned(this.paths.budget(tenantId, day), 'write of a budget', { members, seen });
  }
}
