/** Sizes of the reads and commits of retention. How much a tick deletes is in `tick-budget.ts`. */

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
