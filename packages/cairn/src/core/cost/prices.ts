/**
 * List prices for estimating the cost of a run, documented in docs/deploy.md. Without free tiers, which are per day or
 * month, and without compute time, which is billed by the time of instances that serve many runs.
 */
import { BILLED, type Billed, type FullCost } from './cost.ts';

/**
 * US dollars each. Firestore in `us-central1` (cloud.google.com/firestore/pricing), Cloud Tasks
 * (cloud.google.com/tasks/pricing), as of autumn 2026. A task is two operations: it is made, and it is delivered.
 */
const USD: { readonly [B in Billed]: number } = {
  reads: 0.03 / 100_000,
  writes: 0.09 / 100_000,
  deletes: 0.01 / 100_000,
  tasks: (2 * 0.4) / 1_000_000,
};

/** Decimal digits kept in a cost: enough to show a single read. */
const NANO = 1e9;

/** US dollars, rounded to 10⁻⁹. */
export function usdOf(cost: FullCost): number {
  const usd = BILLED.reduce((total, what) => total + cost[what] * USD[what], 0);
  return Math.round(usd * NANO) / NANO;
}
