/**
 * What a drive concludes: given what is under way and what is left, it says once whether the drive waits, closes the run
 * (as ending.ts decides), or lets go of it. Pure, and total: every combination has one answer.
 */
import { endingOf } from './ending.ts';

export interface DriveFacts {
  /** Bodies that are running and may still end with a result. */
  readonly active: number;
  /** Appends that are not yet known to be durable. */
  readonly unacknowledged: number;
  /** Steps that have not ended, in the whole graph. */
  readonly unsettled: number;
  /** Steps that could start but were not started: their timeout does not fit the budget. */
  readonly held: number;
  /** Retries and sleeps that are waited for in process. */
  readonly awaited: number;
  /** When the earliest retry or sleep is due, awaited or not; epoch ms. */
  readonly earliestDueAt: number | undefined;
  /** Open waits: for a time, a person, an event, a child. */
  readonly waits: number;
  /** A step failed for good, or the time of the run is over. */
  readonly failed: boolean;
  /**
   * Why nothing new may be started. `renewal`: steps were sent back, and the next drive begins from there. `held`:
   * operators want nothing new.
   */
  readonly stop: 'cancel' | 'budget' | 'shutdown' | 'renewal' | 'held' | undefined;
}

export type Conclusion =
  | { readonly kind: 'wait' }
  | { readonly kind: 'complete' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'cancel' }
  /** `until` absent: nothing will happen by itself. */
  | { readonly kind: 'suspend'; readonly until?: number }
  | {
      readonly kind: 'release';
      readonly reason: 'budget' | 'shutdown' | 'retry' | 'renewal' | 'held';
      readonly dueAt?: number;
    };

export function conclude(facts: DriveFacts): Conclusion {
  if (facts.active > 0) return { kind: 'wait' };
  const { stop } = facts;
  const ending = endingOf({ ...facts, cancelAsked: stop === 'cancel' });
  if (ending) return { kind: ending };
  if (stop && stop !== 'cancel') return { kind: 'release', reason: stop };
  if (facts.unacknowledged > 0 || facts.awaited > 0) return { kind: 'wait' };
  if (facts.held > 0) return { kind: 'release', reason: 'budget' };
  const dueAt = facts.earliestDueAt;
  if (facts.waits > 0) return { kind: 'suspend', ...(dueAt === undefined ? {} : { until: dueAt }) };
  if (dueAt !== undefined) return { kind: 'release', reason: 'retry', dueAt };
  throw new Error(`${facts.unsettled} steps have not ended, and nothing can make them`);
}
