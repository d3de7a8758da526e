/** Billed operations of this instance: documents read, written and deleted by successful calls. */

export interface BilledOperations {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
}

/** Receives the operations of each response of the store. */
export interface OperationTally {
  billed(operations: BilledOperations): void;
}

export interface OperationReader {
  /** Start of the count, epoch ms. */
  readonly since: number;
  total(): BilledOperations;
  lastMinute(): BilledOperations;
}
