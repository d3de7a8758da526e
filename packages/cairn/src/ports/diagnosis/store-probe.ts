/**
 * Queries of a diagnosis about the store, in addition to those of the engine: whether its queries have indexes, whether it
 * deletes expired documents, and which runs are due next. Only reads, over all tenants, each with a limit. Every method throws
 * `OutcomeUnknown` if the store does not respond.
 */

export interface IndexNeed {
  readonly collection: string;
  /** In order. A leading `-` means descending. */
  readonly fields: readonly string[];
  /** Features that need the index. */
  readonly serves: string;
}

export interface SeenIndex extends IndexNeed {
  /** `building`: requested, but not ready. `unknown`: the store gave another response. */
  readonly state: 'ready' | 'missing' | 'building' | 'unknown';
}

/** A collection that still has expired documents. */
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
  /** Tries every query that needs an index. Empty if the store has no indexes. */
  indexes(): Promise<readonly SeenIndex[]>;
  /** Collections cleaned by TTL with documents that expired before this time; epoch ms. */
  leftOvers(before: number): Promise<readonly LeftOver[]>;
  /** The first runs to be scanned, at most `limit`. */
  waking(limit: number): Promise<readonly WakingRun[]>;
}
