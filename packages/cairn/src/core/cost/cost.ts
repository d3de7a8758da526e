/**
 * Cost of a run so far, in billed units: Firestore documents and dispatched tasks. Counted by the spender
 * (`journal/spending/`), stored with the snapshot, only ever added to.
 *
 * Must not: know prices; see `prices.ts`.
 */

/** In display order. `tasks`: tasks of the queue that drove the run. */
export const BILLED = ['reads', 'writes', 'deletes', 'tasks'] as const;
export type Billed = (typeof BILLED)[number];

/** Amounts; an absent member means zero. */
export type Spent = { readonly [B in Billed]?: number };

export type OperationCost = { readonly [B in Billed]: number };

export const NOTHING: Spent = {};

export function sum(a: Spent, b: Spent): Spent {
  const total: { [B in Billed]?: number } = {};
  for (const what of BILLED) {
    const amount = (a[what] ?? 0) + (b[what] ?? 0);
    if (amount !== 0) total[what] = amount;
  }
  return total;
}

export function costOf(spent: Spent = NOTHING): OperationCost {
  const { reads = 0, writes = 0, deletes = 0, tasks = 0 } = spent;
  return { reads, writes, deletes, tasks };
}
