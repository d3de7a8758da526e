/** What bodies report and authors declare of what work costs. Types only. */
import type { GivenBudget, GivenCost } from '../../core/budget/given.ts';

/** Model usage of a body. Counts and costs are summed over the attempt. */
export interface Usage {
  readonly agent?: string;
  readonly tokens?: { readonly input?: number; readonly output?: number };
  /** US dollars. */
  readonly usd?: number;
}

/** What a run may spend. Reaching a limit opens a question; nothing is stopped in the middle (docs/budgets.md). */
export type Budget = GivenBudget;

/** Most that an attempt or a call costs. It is reserved in the budget of the run before it begins. */
export type Estimate = GivenCost;
