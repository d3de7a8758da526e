/** Estimated cost of metered operations in production. Prices change. */

/** US dollars per 100,000 documents, Firestore Standard edition, region us-central1, beyond the free quota. */
const PRICES = { reads: 0.03, writes: 0.09, deletes: 0.01 } as const;

export interface MeteredOperations {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
}

/** US dollars, to the billionth. Without storage, network and index entries. */
export function estimatedCostUsd({ reads, writes, deletes }: MeteredOperations): number {
  const perHundredThousand = reads * PRICES.reads + writes * PRICES.writes + deletes * PRICES.deletes;
  return Math.round(perHundredThousand * 10_000) / 1_000_000_000;
}
