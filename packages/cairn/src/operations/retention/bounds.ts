/** Bounds of retention: how much a tick of `deleteExpired` reads and deletes. */

/**
 * Runs of a lineage that are read: at about a kilobyte each, they fit one answer of the store. A lineage with more runs is
 * kept, and logged.
 */
export const MAX_MEMBERS = 2_000;
/** Ended runs read at once: an interrupted tick reads that many again. */
export const PAGE = 50;
/** Lineages processed concurrently: each waits for sequential responses of the store. */
export const CONCURRENCY = 8;
/** Documents deleted in one commit: Firestore takes 500, and its index entries count as well. */
export const DELETES_A_COMMIT = 250;

/** Limits of one tick; the next one continues. */
export interface TickBounds {
  /** Deleted documents, except the run documents of lineages in progress. */
  readonly documents: number;
  readonly runs: number;
  /** Runs with payloads that are checked. */
  readonly owners: number;
  /** Ms. */
  readonly forMs: number;
}

/**
 * A tick every half hour (index.ts) that deletes this much is about a million documents a day, a twentieth of what a
 * database supports; its time leaves the function two minutes for running work.
 */
export const TICK: TickBounds = { documents: 20_000, runs: 5_000, owners: 200, forMs: 420_000 };
