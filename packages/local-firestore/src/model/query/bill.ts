/**
 * Billing of a query by production's price list (firebase.google.com/docs/firestore/pricing): documents, skipped
 * offsets, some index entries, and a minimum. Pure.
 */
import { isInequality, isNameField, leaves, sameField } from './normalise.ts';
import type { Query } from './query.ts';

/** Work done by a query. */
export interface Work {
  /** Returned documents, and documents skipped by the offset. */
  readonly returned: number;
  readonly skipped: number;
  /** Index entries that it read; for a vector search, the vectors that it compared. */
  readonly entries: number;
}

export interface Bill {
  readonly documents: number;
  /** Billed entries. */
  readonly entries: number;
  /** 1 if the other amounts are zero. */
  readonly minimum: 0 | 1;
  /** The total in reads. */
  readonly reads: number;
}

/** Entries billed as one read. */
const ENTRIES_PER_READ = 1_000;
const VECTORS_PER_READ = 100;

export function billOf(query: Query, { returned, skipped, entries }: Work): Bill {
  const documents = returned + skipped;
  const billable = query.nearest || countRangeFields(query) > 1 ? entries : 0;
  const reads = documents + Math.ceil(billable / (query.nearest ? VECTORS_PER_READ : ENTRIES_PER_READ));
  const minimum = reads === 0 ? 1 : 0;
  return { documents, entries: billable, minimum, reads: reads + minimum };
}

/** Bills an aggregation for the entries that it counts or adds up. */
export function billOfAggregation(entries: number): Bill {
  const minimum = entries === 0 ? 1 : 0;
  return { documents: 0, entries, minimum, reads: Math.ceil(entries / ENTRIES_PER_READ) + minimum };
}

/** Counts fields with an inequality, fields that order the results if another field has one, and the name if any filter uses it. */
function countRangeFields({ filter, orders, explicitOrders }: Query): number {
  const ranged = leaves(filter)
    .filter((c) => isInequality(c.op) || isNameField(c.field))
    .map((c) => c.field);
  if (ranged.length > 0) {
    const ordered = orders.slice(0, explicitOrders).map((o) => o.field);
    ranged.push(...ordered.filter((field) => !isNameField(field)));
  }
  return ranged.filter((field, i) => ranged.findIndex((other) => sameField(other, field)) === i).length;
}
