/**
 * Cost of a run so far, in billed units: Firestore documents and dispatched tasks. Counted by the writers (`journal/cost/`),
 * stored with the snapshot, and never decreased.
 *
 * Must not: know prices; see `prices.ts`.
 */

/** In display order. `tasks`: tasks of the queue that drove the run. */
export const BILLED = ['reads', 'writes', 'deletes', 'tasks'] as const;
export type Billed = (typeof BILLED)[number];

/** An absent member means zero. */
export type Cost = { readonly [B in Billed]?: number };

export type FullCost = { readonly [B in Billed]: number };

export const NO_COST: Cost = {};

export function sum(a: Cost, b: Cost): Cost {
  const total: { [B in Billed]?: number } = {};
  for (const what of BILLED) {
    const amount = (a[what] ?? 0) + (b[what] ?? 0);
    if (amount !== 0) total[what] = amount;
  }
  return total;
}

export function fullCost(cost: Cost = NO_COST): FullCost {
  const { reads = 0, writes = 0, deletes = 0, tasks = 0 } = cost;
  return { reads, writes, deletes, tasks };
}
