/** Plans in Firestore: one document for each version of a workflow, created once. */
import type { PlanStore, StoredPlan } from '../ports/runs/plan-store.ts';
import { call } from './call.ts';
import { documentCodec, integer, optional, text, time } from './codec/kinds.ts';
import { FirestoreStore } from './firestore-store.ts';
import { createdVersion } from './versioned-document.ts';

export const planCodec = documentCodec<StoredPlan>({
  type: text,
  planVersion: integer,
  fingerprint: text,
  planText: optional(text),
  createdAt: time,
  by: text,
});

export class FirestorePlanStore extends FirestoreStore implements PlanStore {
  async create(plan: StoredPlan): Promise<'created' | 'exists'> {
    const document = this.paths.plan(plan.type, plan.planVersion);
    const members = planCodec.encode(plan);
    return (await createdVersion('creation of a plan', () => document.create(members)))
      ? 'created'
      : 'exists';
  }

  async read(type: string, planVersion: number): Promise<StoredPlan | undefined> {
    const document = this.paths.plan(type, planVersion);
    const data = (await call('read of a plan', () => document.get())).data();
    return data && planCodec.decode(data, `plan ${type}@${planVersion}`);
  }
}
