/** Spend that bodies report and authors declare. Types only. */
import type { GivenBudget, GivenSpend } from '../../core/budget/given.ts';

/** Model usage of a body. Counts and costs are summed over the attempt. */
export interface Usage {
  readonly agent?: string;
  readonly tokens?: { readonly input?: number; readonly output?: number } | undefined;
  /** US dollars. */
  readonly usd?: number;
}

/** Limits of one run's spending. Reaching a limit opens a question; no action is stopped halfway (docs/budgets.md). */
export type Budget = GivenBudget;

/** Maximum cost of an attempt or a call, reserved in the budget of the run before it begins. */
export type Estimate = GivenSpend;
