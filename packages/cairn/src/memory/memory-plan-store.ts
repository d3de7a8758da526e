/** Plans in memory. */
import type { PlanStore, StoredPlan } from '../ports/runs/plan-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryPlanStore extends MemoryStore implements PlanStore {
  async create(plan: StoredPlan): Promise<'created' | 'exists'> {
    const id = idOf(plan.type, plan.planVersion);
    if (this.db.plans.has(id)) return 'exists';
    this.db.plans.set(id, frozenCopy(plan));
    return 'created';
  }

  async read(type: string, planVersion: number): Promise<StoredPlan | undefined> {
    return this.db.plans.get(idOf(type, planVersion));
  }
}

function idOf(type: string, planVersion: number): string {
  return `${type}@${planVersion}`;
}
