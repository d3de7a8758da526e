/**
 * Decides about an attempt of a body in a run with a budget: it begins with a reservation, waits for attempts under way to
 * settle theirs, or the run asks a person for more.
 *
 * Must not: know how a body is run or a question opened.
 */
import {
  type AttemptRef,
  BUDGET_NAMES,
  type BudgetName,
  type BudgetState,
  isSameAttempt,
  SPEND_NAMES,
  type Spend,
  spendSum,
} from './budget.ts';

/** An attempt of this dispatch that has not ended. */
export interface UnderWay extends AttemptRef {
  /** Attempts of one kind cost about the same: those of a step, or of the operations with one name. */
  readonly kind: string;
  readonly reserved: Spend;
}

export interface Beginning {
  readonly kind: string;
  /** Most that the attempt costs, as its author declares. */
  readonly estimate?: Spend | undefined;
  /** Most that an attempt of its kind has cost in this dispatch; undefined: none has ended. */
  readonly largest?: Spend | undefined;
  /** True if the attempt calls capabilities with side effects and cannot be stopped between two calls. */
  readonly actsAtOnce: boolean;
}

interface BudgetSituation {
  readonly underWay: readonly UnderWay[];
  /** Start of the run, and current time, epoch ms. */
  readonly startedAt: number;
  readonly now: number;
}

export type BudgetDecision =
  | { readonly kind: 'begin'; readonly reserve: Spend }
  /** Attempts under way may leave enough. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ask'; readonly reached: readonly BudgetName[] };

type LimitAdmission = 'begin' | 'wait' | 'ask';

export function budgetDecision(
  budget: BudgetState,
  beginning: Beginning,
  situation: BudgetSituation,
): BudgetDecision {
  const limited = BUDGET_NAMES.filter((name) => budget.limits[name] !== undefined);
  const admissions = limited.map((name) => [name, admissionOf(name, budget, beginning, situation)] as const);
  const reached = admissions.flatMap(([name, admission]) => (admission === 'ask' ? [name] : []));
  if (reached.length > 0) return { kind: 'ask', reached };
  if (admissions.some(([, admission]) => admission === 'wait')) return { kind: 'wait' };
  return { kind: 'begin', reserve: reserveOf(budget, beginning) };
}

function admissionOf(
  name: BudgetName,
  budget: BudgetState,
  beginning: Beginning,
  situation: BudgetSituation,
): LimitAdmission {
  const { limits, spent } = budget;
  const limit = limits[name] ?? Number.POSITIVE_INFINITY;
  switch (name) {
    case 'wallClockMs':
      return elapsedMs(budget, situation) >= limit ? 'ask' : 'begin';
    case 'operations':
      if (spent.operations >= limit) return 'ask';
      return spent.operations + situation.underWay.length >= limit ? 'wait' : 'begin';
    case 'effects':
      return beginning.actsAtOnce && spent.effects >= limit ? 'ask' : 'begin';
    case 'microUsd':
    case 'tokens':
      return costAdmission(name, limit - spentOf(budget, name, situation), beginning, situation);
  }
}

/**
 * With an estimate, the attempt must fit beside the reservations. Without one, it reserves the highest spend of its kind so far.
 * If that does not fit or is unknown, the attempt runs alone, so that at most one attempt overruns the limit.
 *
 * @param left rest of the limit; the reservations of running attempts are not subtracted
 */
function costAdmission(
  name: keyof Spend,
  left: number,
  { kind, estimate, largest }: Beginning,
  { underWay }: BudgetSituation,
): LimitAdmission {
  const reserved = spendSum(
    underWay.map((one) => one.reserved),
    name,
  );
  if (estimate) {
    const need = estimate[name] ?? 0;
    if (need === 0) return 'begin';
    if (need > left) return 'ask';
    return need + reserved > left ? 'wait' : 'begin';
  }
  if (left <= 0) return 'ask';
  if (!largest) return underWay.some((other) => other.kind === kind) || reserved >= left ? 'wait' : 'begin';
  const need = largest[name] ?? 0;
  return reserved > 0 && need + reserved > left ? 'wait' : 'begin';
}

function reserveOf({ limits }: BudgetState, { estimate, largest = {} }: Beginning): Spend {
  const spend = estimate ?? largest;
  const members = SPEND_NAMES.flatMap((name) =>
    limits[name] !== undefined && spend[name] ? [[name, spend[name]]] : [],
  );
  return Object.fromEntries(members);
}

/** Spending, including the reservations of attempts whose process died. */
function spentOf({ spent, reserved }: BudgetState, name: keyof Spend, { underWay }: BudgetSituation): number {
  const dead = reserved.filter((one) => !underWay.some((alive) => isSameAttempt(alive, one)));
  return spendSum([spent, ...dead], name);
}

function elapsedMs(
  { askedMs }: BudgetState,
  { startedAt, now }: Pick<BudgetSituation, 'startedAt' | 'now'>,
): number {
  return now - startedAt - askedMs;
}

/** True if the run may make no more calls with side effects. */
export function effectsReached({ limits, spent }: BudgetState): boolean {
  return limits.effects !== undefined && spent.effects >= limits.effects;
}

/** Spend of an attempt: the reported money and tokens, and the author's estimate for the rest. */
export function spentBy(reported: Spend, estimate: Spend | undefined): Spend {
  return { ...estimate, ...reported };
}

export function largerOf(a: Spend | undefined, b: Spend): Spend {
  const members = SPEND_NAMES.map((name) => [name, Math.max(a?.[name] ?? 0, b[name] ?? 0)]);
  return Object.fromEntries(members);
}
