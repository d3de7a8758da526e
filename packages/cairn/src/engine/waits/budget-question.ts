/** The question of a run that has reached its own budget or the daily budget of its tenant, and the limits that the question names. Pure. */
import {
  BUDGET_NAMES,
  type BudgetLimits,
  type BudgetName,
  type BudgetState,
  type Spend,
  sumOfSpends,
} from '../../core/budget/budget.ts';
import {
  ceilingOf,
  DAY_LIMITS,
  type DayAmounts,
  type DayBudget,
  type DayLimit,
  usedOf,
} from '../../core/budget/day.ts';
import { type GivenBudget, shownAmounts } from '../../core/budget/given.ts';
import type { BudgetQuestion, DayQuestion, StepExecution, Wait } from '../../core/run/events.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import { questionAbout } from './question.ts';

interface BudgetReached {
  /** The attempt that cannot begin, or that was stopped before a call. */
  readonly execution: StepExecution;
  readonly reached: readonly BudgetName[];
  readonly estimate: Spend | undefined;
  /** Epoch ms. */
  readonly now: number;
}

type BudgetedRun = Pick<RunState, 'budget' | 'startedAt' | 'createdAt'>;

export function budgetQuestion(
  { budget, startedAt, createdAt }: BudgetedRun,
  { execution, reached, estimate, now }: BudgetReached,
): BudgetQuestion {
  if (!budget) throw new Error('a run without a budget has no question about one');
  const key = stepKey(execution);
  const spent = spentOf(budget, now - (startedAt ?? createdAt));
  const limits = reached.map((name) => limitText(name, spent[name] ?? 0, budget.limits[name] ?? 0));
  const needs = estimate ? needText(reached, estimate) : '';
  const question = `The run has reached its budget: ${limits.join('; ')}. '${key}' waits${needs}. Raise the budget, fail the step or cancel the run?`;
  const shown = {
    reached: [...reached],
    spent: shownAmounts(spent),
    limits: shownAmounts(budget.limits),
    raise: shownAmounts(amountsOfReached(budget.declared, reached)),
  };
  return { ...questionAbout(execution, 'budget', { question, budget: shown }, now), purpose: 'budget' };
}

interface DayReached extends Omit<BudgetReached, 'reached'> {
  readonly reached: readonly DayLimit[];
  readonly budget: DayBudget;
  /** The amount that does not fit. */
  readonly need: DayAmounts;
  /** When the next day begins, epoch ms. */
  readonly until: number;
}

/** A question with a due time: the run continues by itself on the next day. */
export function dayQuestion(question: DayReached): DayQuestion {
  const { execution, reached, estimate, now, budget, need, until } = question;
  const key = stepKey(execution);
  const { day } = budget;
  const spent = usedOf(budget);
  const ceiling = ceilingOf(budget);
  const limits = reached.map((name) => limitText(name, spent[name] ?? 0, ceiling[name] ?? 0));
  const needs = estimate ? needText(reached, estimate) : '';
  const next = new Date(until).toISOString();
  const text = `The tenant has reached its budget of ${day} (UTC): ${limits.join('; ')}. '${key}' waits${needs} and begins by itself at ${next}. Raise the budget of the day, fail the step or cancel the run?`;
  const shown = {
    day,
    reached: [...reached],
    spent: shownAmounts(spent),
    limits: shownAmounts(ceiling),
    needs: shownAmounts(need),
    raise: shownAmounts(amountsOfReached(budget.limits, reached)),
  };
  const wait = questionAbout(execution, 'day', { question: text, budget: shown }, now);
  return { ...wait, purpose: 'budget', day, dueAt: until };
}

export function asksForDay(wait: Wait): wait is DayQuestion {
  return wait.day !== undefined;
}

/**
 * Default raise of an approval without an amount: the reached limits, by the installation's default. A limit that was raised
 * after the question was opened is not raised again, so that each of a hundred runs can be approved.
 */
export function dayRaiseByDefault(budget: DayBudget, question: DayQuestion): DayAmounts {
  const { reached, limits } = shownBy(question);
  const ceiling = shownAmounts(ceilingOf(budget));
  const members = DAY_LIMITS.flatMap((name) => {
    const limit = budget.limits[name];
    const shown = name === 'microUsd' ? 'usd' : name;
    const isRaised = (ceiling[shown] ?? 0) > (limits?.[shown] ?? 0);
    return limit !== undefined && !isRaised && reached?.includes(name) ? [[name, limit]] : [];
  });
  return Object.fromEntries(members);
}

/** The limits of the day that the question names; empty if the question is shown in part. */
export function reachedOf(question: DayQuestion): readonly DayLimit[] {
  const { reached } = shownBy(question);
  return DAY_LIMITS.filter((name) => reached?.includes(name));
}

/** The amount that did not fit; undefined if the question is from an earlier version, or shown in part. */
export function neededOf(question: DayQuestion): DayAmounts | undefined {
  const { needs } = shownBy(question);
  if (!needs) return undefined;
  const { usd, ...others } = needs;
  return usd === undefined ? others : { ...others, microUsd: Math.round(usd * 1e6) };
}

/** Default raise of an approval without an amount: the reached limits, by the workflow's declared amounts. */
export function raiseByDefault({ declared }: BudgetState, question: BudgetQuestion): BudgetLimits {
  return amountsOfReached(declared, shownBy(question).reached ?? []);
}

function amountsOfReached(amounts: BudgetLimits, reached: readonly string[]): BudgetLimits {
  const members = BUDGET_NAMES.flatMap((name) => {
    const amount = amounts[name];
    return amount !== undefined && reached.includes(name) ? [[name, amount]] : [];
  });
  return Object.fromEntries(members);
}

interface ShownBudget {
  readonly reached?: readonly string[];
  readonly needs?: Omit<GivenBudget, 'wallClock'>;
  readonly limits?: Readonly<Partial<Record<string, number>>>;
}

/** The limits in the question; empty if it is shown in part. */
function shownBy({ detailText }: BudgetQuestion): ShownBudget {
  const { budget = {} } = JSON.parse(detailText) as { readonly budget?: ShownBudget };
  return budget;
}

function spentOf({ spent, reserved, askedMs, limits }: BudgetState, runMs: number): BudgetLimits {
  const known: Required<BudgetLimits> = {
    ...spent,
    ...sumOfSpends([spent, ...reserved]),
    wallClockMs: runMs - askedMs,
  };
  return Object.fromEntries(
    BUDGET_NAMES.flatMap((name) => (limits[name] === undefined ? [] : [[name, known[name]]])),
  );
}

function limitText(name: BudgetName, spent: number, limit: number): string {
  switch (name) {
    case 'microUsd':
      return `${dollars(spent)} of ${dollars(limit)} spent`;
    case 'wallClockMs':
      return `${Math.round(spent / 1_000)} of ${Math.round(limit / 1_000)} seconds passed`;
    default:
      return `${spent} of ${limit} ${name} used`;
  }
}

function needText(reached: readonly BudgetName[], { microUsd = 0, tokens = 0 }: Spend): string {
  const needs = [
    ...(reached.includes('microUsd') ? [dollars(microUsd)] : []),
    ...(reached.includes('tokens') ? [`${tokens} tokens`] : []),
  ];
  return needs.length === 0 ? '' : ` and needs up to ${needs.join(' and ')}`;
}

function dollars(microUsd: number): string {
  return `${(microUsd / 1e6).toFixed(2)} USD`;
}
