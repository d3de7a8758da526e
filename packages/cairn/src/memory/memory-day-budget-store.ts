/** Budgets of tenants and days in memory. */
import type { DayBudget } from '../core/budget/day.ts';
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import type { DayBudgetStore, StoredDayBudget } from '../ports/runs/day-budget-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryDayBudgetStore extends MemoryStore implements DayBudgetStore {
  async read(tenantId: string, day: string): Promise<StoredDayBudget | undefined> {
    return this.db.dayBudgets.get(keyOf({ tenantId, day }));
  }

  async write(budget: DayBudget, seen: Version | undefined): Promise<CompareAndSetResult> {
    const key = keyOf(budget);
    if (this.db.dayBudgets.get(key)?.version !== seen) return { kind: 'stale' };
    const version = this.db.nextVersion();
    this.db.dayBudgets.set(key, { budget: frozenCopy(budget), version });
    return { kind: 'written', version };
  }
}

function keyOf({ tenantId, day }: Pick<DayBudget, 'tenantId' | 'day'>): string {
  return `${day}@${tenantId}`;
}
