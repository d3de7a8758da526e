/**
 * Budget of a run: its limits, its spending, and the reservations of calls under way. Part of the folded state of runs whose
 * workflow declares a budget; `fold.ts` changes it, `decision.ts` decides what may begin.
 *
 * Money is kept in millionths of a US dollar, so that sums are exact.
 */

/** Upper bounds; an absent member is unlimited. */
export interface BudgetLimits {
  readonly microUsd?: number;
  readonly tokens?: number;
  /** Calls of capabilities with side effects. */
  readonly effects?: number;
  /** Attempts of bodies: of steps, items and operations of flows. */
  readonly operations?: number;
  /** Time since the start of the run, without the time spent asking for more budget. */
  readonly wallClockMs?: number;
}

export type BudgetName = keyof BudgetLimits;
export const BUDGET_NAMES = ['microUsd', 'tokens', 'effects', 'operations', 'wallClockMs'] as const;

/** Money and tokens of one or more calls. Absent: none. */
export interface Spend {
  readonly microUsd?: number;
  readonly tokens?: number;
}

export const SPEND_NAMES = ['microUsd', 'tokens'] as const;

/** One attempt of a body. */
export interface AttemptRef {
  readonly step: string;
  readonly revision: number;
  readonly attempt: number;
}

/** Reservation of an attempt whose end is not in the journal. */
export interface Reservation extends AttemptRef, Spend {}

export interface BudgetState {
  /** Includes all raises. */
  readonly limits: BudgetLimits;
  /** As declared by the workflow when the run started. */
  readonly declared: BudgetLimits;
  readonly spent: Required<Spend> & { readonly effects: number; readonly operations: number };
  readonly reserved: readonly Reservation[];
  /** Total time spent asking for more budget, ms. */
  readonly askedMs: number;
}

export function newBudget(declared: BudgetLimits): BudgetState {
  return {
    limits: declared,
    declared,
    spent: { microUsd: 0, tokens: 0, effects: 0, operations: 0 },
    reserved: [],
    askedMs: 0,
  };
}

export function isSameAttempt(a: AttemptRef, b: AttemptRef): boolean {
  return a.step === b.step && a.revision === b.revision && a.attempt === b.attempt;
}

/** True if money or tokens are limited. */
export function limitsSpend({ limits }: BudgetState): boolean {
  return SPEND_NAMES.some((name) => limits[name] !== undefined);
}

export function spendSum(spends: readonly Spend[], name: keyof Spend): number {
  return spends.reduce((sum, spend) => sum + (spend[name] ?? 0), 0);
}

export function sumOfSpends(spends: readonly Spend[]): Required<Spend> {
  return { microUsd: spendSum(spends, 'microUsd'), tokens: spendSum(spends, 'tokens') };
}

export function isFree(spend: Spend): boolean {
  return SPEND_NAMES.every((name) => (spend[name] ?? 0) === 0);
}

export function plainSpend(spend: Spend): Spend {
  return Object.fromEntries(SPEND_NAMES.flatMap((name) => (spend[name] ? [[name, spend[name]]] : [])));
}
