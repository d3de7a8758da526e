/**
 * Budgets of tenants for one UTC day each, over all their runs (core/budget/day.ts): one small document a tenant and day, written by
 * compare-and-set, which Firestore deletes {@link DAY_BUDGET_KEPT_MS} later. Every method throws `OutcomeUnknown` where it
 * cannot know whether the call was applied; the same write again is then safe.
 */
import type { DayBudget } from '../../core/budget/day.ts';
import type { CompareAndSetResult, Version } from '../run-store.ts';

/** Long enough for a monthly bill to be compared with it. */
export const DAY_BUDGET_KEPT_MS = 40 * 24 * 3_600_000;

export interface StoredDayBudget {
  readonly budget: DayBudget;
  readonly version: Version;
}

export interface DayBudgetStore {
  read(tenantId: string, day: string): Promise<StoredDayBudget | undefined>;
  /** Replaces the version last seen as a whole; absent: creates the document. */
  write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult>;
}
