/**
 * Stores the plan of each version at its first run, with which later definitions are compared.
 * Created once, never changed or deleted.
 */

export interface StoredPlan {
  readonly type: string;
  readonly planVersion: number;
  /** See core/plan/plan.ts. */
  readonly fingerprint: string;
  /** The plan behind the fingerprint, canonical JSON; absent if it was too large. */
  readonly planText?: string | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Id of the run whose start wrote it. */
  readonly by: string;
}

export interface PlanStore {
  /** @throws OutcomeUnknown: repeating the call is safe, and may return `exists` for its own plan */
  create(plan: StoredPlan): Promise<'created' | 'exists'>;
  /** @throws OutcomeUnknown */
  read(type: string, planVersion: number): Promise<StoredPlan | undefined>;
}
