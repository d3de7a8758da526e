/** What the store bills this instance for: documents read, written and deleted by calls that were answered. */

export interface BilledOperations {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
}

/** Told by the store of each answer. */
export interface OperationTally {
  billed(operations: BilledOperations): void;
}

export interface OperationReader {
  /** When counting began, epoch ms. */
  readonly since: number;
  total(): BilledOperations;
  /** Of the minute that ends now. */
  lastMinute(): BilledOperations;
}
