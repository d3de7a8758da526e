/** Facts about the plan of a run that decisions need. Provided by engine/definition-of-run.ts; not part of the journal. */
import type { OpenEffect } from '../run/state.ts';

export interface DeployedPlan {
  /** False if the plan the run was started on is not deployed. */
  readonly available: boolean;
  /** True if the version is deployed with a different plan, which must not be used for the run. */
  readonly changed?: boolean;
  /** Returns true if the step may safely run again. Only called while `available`. */
  isIdempotent(stepKey: string): boolean;
  /**
   * Returns true if the receiver of this effect acts once per key, even if an earlier call is still in progress. Only called
   * while `available`.
   */
  actsOncePerKey(effect: Pick<OpenEffect, 'step' | 'capabilityId'>): boolean;
  /**
   * True if a step that must not run twice allows a new attempt after this many failed or interrupted ones. Absent: false. Only
   * called while `available`.
   */
  allowsNewAttempt?(stepKey: string, attempts: number): boolean;
  /**
   * True if the step with this key has a compensation. While the plan is not deployed, its stored plan decides; without a
   * stored plan it is true.
   */
  isCompensable(stepKey: string): boolean;
  /** Handling of a step that must not run twice and was interrupted. */
  readonly onDoubt: 'fail' | 'ask';
}
