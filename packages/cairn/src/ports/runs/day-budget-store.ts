/**
 * Budgets of tenants for one UTC day each, over all their runs (core/budget/day.ts): one small document per tenant and day, written by
 * compare-and-set, which Firestore deletes {@link DAY_BUDGET_KEPT_MS} later. Every method throws `OutcomeUnknown` if it is
 * unknown whether the call was applied; repeating the same write is then safe.
 */
import type { DayBudget } from '../../core/budget/day.ts';
import type { CompareAndSetResult, Version } from '../run-store.ts';

/** Long enough to compare it with a monthly bill. */
export const DAY_BUDGET_KEPT_MS = 40 * 24 * 3_600_000;

export interface StoredDayBudget {
  readonly budget: DayBudget;
  readonly version: Version;
}

export interface DayBudgetStore {
  read(tenantId: string, day: string): Promise<StoredDayBudget | undefined>;
  /** Replaces the version last seen as a whole. Without `seen`: creates the document. */
  write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult>;
}
