/**
 * Questions of a diagnosis about the store, beyond those of the engine: whether its queries have indexes, whether it
 * deletes expired documents, and which runs are due next. Reads only, of all tenants, each bounded. Every method throws
 * `OutcomeUnknown` if the store does not respond.
 */

export interface IndexNeed {
  readonly collection: string;
  /** In their order; `-` first: descending. */
  readonly fields: readonly string[];
  /** Features that need it. */
  readonly serves: string;
}

export interface SeenIndex extends IndexNeed {
  /** `building`: it was requested and is not ready yet. `unknown`: the store gave another answer than that or a result. */
  readonly state: 'ready' | 'missing' | 'building' | 'unknown';
}

/** A collection of which documents are left that have expired. */
export interface LeftOver {
  readonly collection: string;
  /** The earliest expiry among the documents found, epoch ms. */
  readonly expiredAt: number;
}

/** A run that must be scanned by `wakeAt`, epoch ms. */
export interface WakingRun {
  readonly wakeAt: number;
  /** End of its lease, epoch ms, as stored; absent: no lease. */
  readonly leasedUntil?: number | undefined;
  /** True if events of the run may be unpublished. */
  readonly hasUnpublishedEvents: boolean;
}

export interface StoreProbe {
  /** Tries every query that needs one. None, where the store has no indexes. */
  indexes(): Promise<readonly SeenIndex[]>;
  /** Collections cleaned by TTL that have documents which expired before this time; epoch ms. */
  leftOvers(before: number): Promise<readonly LeftOver[]>;
  /** The first to be touched, at most `limit` of them. */
  waking(limit: number): Promise<readonly WakingRun[]>;
}
