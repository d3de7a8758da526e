/** Plans in memory. */
import type { PlanStore, StoredPlan } from '../ports/runs/plan-store.ts';
import { adopt, type MemoryDatabase } from './memory-database.ts';

export class MemoryPlanStore implements PlanStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async create(plan: StoredPlan): Promise<'created' | 'exists'> {
    const id = idOf(plan.type, plan.planVersion);
    if (this.#db.plans.has(id)) return 'exists';
    this.#db.plans.set(id, adopt(plan));
    return 'created';
  }

  async read(type: string, planVersion: number): Promise<StoredPlan | undefined> {
    return this.#db.plans.get(idOf(type, planVersion));
  }
}

function idOf(type: string, planVersion: number): string {
  return `${type}@${planVersion}`;
}
