/**
 * What somebody who asks how an installation fares wants to know of its store beyond what the engine asks: whether its
 * queries can be answered, whether it deletes what has expired, and which runs are to be moved next. Reads only, of all
 * tenants, each question bounded. Every method throws `OutcomeUnknown` where the store does not answer.
 */

/** An index that a query needs. */
export interface IndexNeed {
  readonly collection: string;
  /** In their order; `-` first: descending. */
  readonly fields: readonly string[];
  /** What does not work without it. */
  readonly serves: string;
}

export interface SeenIndex extends IndexNeed {
  /** `building`: it was asked for and is not ready yet. `unknown`: the store gave another answer than that or a result. */
  readonly state: 'ready' | 'missing' | 'building' | 'unknown';
}

/** A collection of which documents are left that have expired. */
export interface LeftOver {
  readonly collection: string;
  /** When what was found had expired, epoch ms: the longest ago of what was looked at. */
  readonly expiredAt: number;
}

/** A run that somebody must touch by `wakeAt`, epoch ms. */
export interface WakingRun {
  readonly wakeAt: number;
  /** Until when somebody has it, epoch ms, as far as the stored run tells; absent: nobody does. */
  readonly leasedUntil?: number;
  /** Whether events of it may not have been published that are to be. */
  readonly owesEvents: boolean;
}

export interface StoreLook {
  /** Tries every query that needs one. None, where the store has no indexes. */
  indexes(): Promise<readonly SeenIndex[]>;
  /** Of each collection that the store cleans by itself, if it has documents that expired before then; epoch ms. */
  leftOvers(before: number): Promise<readonly LeftOver[]>;
  /** The first to be touched, at most `limit` of them. */
  waking(limit: number): Promise<readonly WakingRun[]>;
}
