/** Adds the bill of each call of a store to the spending on a run, once the call is answered. */
import type { Spent } from '../../core/cost/cost.ts';
import type { AroundEach } from '../../ports/wrap-calls.ts';
import type { Spending } from './spending.ts';

/** The bill of a call of each method, by its answer and its arguments. */
type Bills<P> = {
  readonly [K in keyof AroundEach<P>]: P[K] extends (...args: infer A) => Promise<infer R>
    ? (answer: R, ...args: A) => Spent
    : never;
};

type CostOf = (answer: unknown, ...args: unknown[]) => Spent;
type AsyncCall = (...args: unknown[]) => Promise<unknown>;

export function billedCalls<P>(spending: Spending, bills: Bills<P>): AroundEach<P> {
  const around: Record<string, (call: AsyncCall, ...args: unknown[]) => Promise<unknown>> = {};
  for (const [name, bill] of Object.entries<CostOf>(bills)) {
    around[name] = async (call, ...args) => {
      const answer = await call(...args);
      spending.add(bill(answer, ...args));
      return answer;
    };
  }
  return around as AroundEach<P>;
}

/** A query that finds nothing is billed as one read. */
export function readsOf(found: number): Spent {
  return { reads: Math.max(1, found) };
}

/** A page reads one item more than it shows, to know whether there are more. */
export function pageReads(page: {
  readonly items: readonly unknown[];
  readonly next?: string | undefined;
}): Spent {
  return readsOf(page.items.length + (page.next === undefined ? 0 : 1));
}
