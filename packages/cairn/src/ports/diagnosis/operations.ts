/** Billed operations of this instance: documents read, written and deleted by answered calls. */

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
  /** When counting began, epoch ms. */
  readonly since: number;
  total(): BilledOperations;
  lastMinute(): BilledOperations;
}
