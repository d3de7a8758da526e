/** Adds the bill of each call of a store to the cost of a run, once the call is answered. */
import type { Cost } from '../../core/cost/cost.ts';
import type { AroundEach } from '../../ports/wrap-calls.ts';
import type { CostCounter } from './cost-counter.ts';

/** The bill of a call of each method, computed from its answer and its arguments. */
type Bills<P> = {
  readonly [K in keyof AroundEach<P>]: P[K] extends (...args: infer A) => Promise<infer R>
    ? (answer: R, ...args: A) => Cost
    : never;
};

type CostOf = (answer: unknown, ...args: unknown[]) => Cost;
type AsyncCall = (...args: unknown[]) => Promise<unknown>;

export function billedCalls<P>(counter: CostCounter, bills: Bills<P>): AroundEach<P> {
  const around: Record<string, (call: AsyncCall, ...args: unknown[]) => Promise<unknown>> = {};
  for (const [name, bill] of Object.entries<CostOf>(bills)) {
    around[name] = async (call, ...args) => {
      const answer = await call(...args);
      counter.add(bill(answer, ...args));
      return answer;
    };
  }
  return around as AroundEach<P>;
}

/** A query that finds nothing is billed as one read. */
export function readsOf(found: number): Cost {
  return { reads: Math.max(1, found) };
}

/** A page reads one item more than it shows, to know whether there are more. */
export function pageReads(page: {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
}): Cost {
  return readsOf(page.items.length + (page.next === undefined ? 0 : 1));
}
