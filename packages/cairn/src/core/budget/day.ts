/**
 * Budget of a tenant for one UTC day, over all its runs: its limits, its spending, and the holds of dispatches under way. A
 * dispatch takes an amount before it spends it and settles its spending when it ends, so the sum never exceeds the limit. The
 * hold of a dispatch that died counts as spent. Pure; the caller writes each result under the version that it read.
 *
 * Must not: know how an attempt is run or a question opened.
 */
import { givenName } from '../flow/names.ts';
import type { BudgetLimits, BudgetName, Spend } from './budget.ts';
import { largerOf } from './decision.ts';

/** Limits of a day. It has no limit of wall-clock time, because every day has the same length. */
export const DAY_LIMITS = ['microUsd', 'tokens', 'effects', 'operations'] as const;
export type DayLimit = (typeof DAY_LIMITS)[number];
/** An absent member means unlimited in a limit, and 0 in an amount. */
export type DayAmounts = Pick<BudgetLimits, DayLimit>;

/** The amounts that one dispatch may spend without asking again. */
interface DayHold {
  /** Token of the dispatch. */
  readonly owner: string;
  /** Total, including the amounts already spent. */
  readonly granted: DayAmounts;
  /** The dispatch is dead by then, epoch ms. */
  readonly expiresAt: number;
}

/** A person raised the limits of the day. */
interface DayRaise {
  /** The question that was answered: a repeated answer raises nothing a second time. */
  readonly id: string;
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  readonly amounts: DayAmounts;
}

export interface DayBudget {
  readonly tenantId: string;
  /** UTC, such as `2026-11-23`. */
  readonly day: string;
  /** Configured limits at the last write, without raises. */
  readonly limits: DayAmounts;
  readonly raised: DayAmounts;
  /** The newest {@link MAX_RAISES}. */
  readonly raises: readonly DayRaise[];
  /** Spent by dispatches that were settled or died. */
  readonly spent: DayAmounts;
  readonly holds: readonly DayHold[];
  /** Highest spend of an attempt without an estimate, by kind of attempt. */
  readonly largest: Readonly<Record<string, Spend>>;
}

/** Maximum of dispatches of a tenant with a hold; others wait. About 100 bytes each. */
export const MAX_HOLDS = 1_000;
export const MAX_RAISES = 50;
/** Kinds of attempts whose spend is stored; further kinds are estimated as if they had never run. */
export const MAX_KINDS = 500;
const MAX_KIND_CHARS = 200;

export function newDayBudget({
  tenantId,
  day,
  limits,
  largest = {},
}: Pick<DayBudget, 'tenantId' | 'day' | 'limits'> & Partial<Pick<DayBudget, 'largest'>>): DayBudget {
  return { tenantId, day, limits, largest, raised: {}, raises: [], spent: {}, holds: [] };
}

/** UTC day of a time, such as `2026-11-23`. @param at epoch ms */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** First moment of the next UTC day, epoch ms. */
export function dayAfter(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** Last moment of the day before, epoch ms. */
export function dayBefore(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS - 1;
}

const DAY_MS = 24 * 3_600_000;

/** Limits with all raises. */
export function ceilingOf({ limits, raised }: Pick<DayBudget, 'limits' | 'raised'>): DayAmounts {
  return amounts((name) => (limits[name] === undefined ? undefined : limits[name] + (raised[name] ?? 0)));
}

/** Spent, or reserved by dispatches under way. */
export function usedOf({ spent, holds }: Pick<DayBudget, 'spent' | 'holds'>): DayAmounts {
  return sumOfAmounts([spent, ...holds.map(({ granted }) => granted)]);
}

export interface DayTake {
  readonly owner: string;
  /** Time by which the dispatch must have ended, epoch ms. */
  readonly expiresAt: number;
  /** Total granted to the dispatch, as far as it knows. */
  readonly reserved: DayAmounts;
  readonly need: DayAmounts;
  /** The configured limits. */
  readonly limits: DayAmounts;
  /** True if the amount is already spent or cannot be stopped, so that it is granted even beyond the limit. */
  readonly isSpent?: boolean;
  /** Observed spend, by kind of attempt without an estimate. */
  readonly kinds?: Readonly<Record<string, Spend>>;
}

export type DayTakeResult =
  /** The caller writes `day`; absent if it was already written, by a write whose answer was lost. */
  | { readonly kind: 'granted'; readonly reserved: DayAmounts; readonly day?: DayBudget }
  /** Other dispatches may leave enough. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'reached'; readonly names: readonly DayLimit[]; readonly day: DayBudget };

/** The reason why an attempt or a call may not begin. */
export type DayRefusal =
  | { readonly kind: 'busy' }
  | {
      readonly kind: 'reached';
      readonly reached: readonly DayLimit[];
      readonly budget: DayBudget;
      /** The amount that does not fit. */
      readonly need: DayAmounts;
      /** When the next day begins, epoch ms. */
      readonly until: number;
    };

/** The same of any budget; `ask`: the run has reached its own. */
export type BudgetRefusal = { readonly kind: 'ask'; readonly reached: readonly BudgetName[] } | DayRefusal;

/**
 * Grants the needed amount if it fits beside the amounts spent and reserved. A repeated take gets more than it needs, up to the
 * smallest of the current hold, a hundredth of the limit and a tenth of the rest, so that it writes rarely and withholds little
 * from other dispatches.
 *
 * @param now epoch ms
 */
export function take(before: DayBudget, taking: DayTake, now: number): DayTakeResult {
  const { owner, expiresAt, reserved, need, limits, isSpent = false, kinds = {} } = taking;
  const day = { ...withoutExpired(before, now), limits };
  const own = day.holds.find((hold) => hold.owner === owner);
  const wanted = sumOfAmounts([reserved, need]);
  if (own && DAY_LIMITS.every((name) => of(own.granted, name) >= of(wanted, name)))
    return { kind: 'granted', reserved: own.granted };
  const ceiling = ceilingOf(day);
  const used = usedOf(day);
  const others = sumOfAmounts(day.holds.filter((hold) => hold !== own).map(({ granted }) => granted));
  const missing = (name: DayLimit) => {
    const limit = ceiling[name];
    const more = of(wanted, name) - of(own?.granted ?? {}, name);
    return limit === undefined || more <= 0 ? 0 : Math.max(0, more - (limit - of(used, name)));
  };
  if (!isSpent) {
    const names = DAY_LIMITS.filter((name) => missing(name) > of(others, name));
    if (names.length > 0) return { kind: 'reached', names, day };
    const isFull = own === undefined && day.holds.length >= MAX_HOLDS;
    if (isFull || DAY_LIMITS.some((name) => missing(name) > 0)) return { kind: 'busy' };
  }
  const granted = amounts((name) => {
    const limit = ceiling[name];
    if (limit === undefined) return undefined;
    const total = Math.max(of(wanted, name), of(own?.granted ?? {}, name));
    const left = limit - of(used, name) - (total - of(own?.granted ?? {}, name));
    const headroom = Math.min(of(reserved, name), limit / 100, left / 10);
    return total + (isSpent || of(need, name) === 0 ? 0 : Math.max(0, Math.floor(headroom)));
  });
  const holds = [...day.holds.filter((hold) => hold !== own), { owner, granted, expiresAt }];
  return { kind: 'granted', reserved: granted, day: { ...day, holds, largest: learned(day.largest, kinds) } };
}

interface Settling {
  readonly owner: string;
  readonly spent: DayAmounts;
  readonly kinds?: Readonly<Record<string, Spend>>;
}

/**
 * Replaces the hold of a dispatch by its spending. Undefined if the hold was already settled, or counted in full because its
 * dispatch was presumed dead.
 */
export function settleHold(before: DayBudget, { owner, spent, kinds = {} }: Settling): DayBudget | undefined {
  if (!before.holds.some((hold) => hold.owner === owner)) return undefined;
  return {
    ...before,
    spent: sumOfAmounts([before.spent, spent]),
    holds: before.holds.filter((hold) => hold.owner !== owner),
    largest: learned(before.largest, kinds),
  };
}

/** Undefined if the answer was already counted. A raise of an unlimited amount changes nothing. */
export function raise(before: DayBudget, given: DayRaise): DayBudget | undefined {
  if (before.raises.some(({ id }) => id === given.id)) return undefined;
  const raises = [...before.raises, given].slice(-MAX_RAISES);
  return { ...before, raised: sumOfAmounts([before.raised, given.amounts]), raises };
}

/** Attempts of one kind cost about the same: operations of a flow to which the code gives one name, and items of a map. */
export function attemptKind({
  stepId,
  kind,
  itemKey,
}: {
  readonly stepId: string;
  readonly kind: string;
  readonly itemKey?: string | undefined;
}): string {
  return kind === 'step' && itemKey !== undefined ? `${stepId}[${givenName(itemKey)}]` : stepId;
}

/** The requests that fit into the rest of the day together, taken in order. */
export function admittable<T extends { readonly need: DayAmounts }>(
  day: DayBudget,
  waiting: readonly T[],
): readonly T[] {
  const ceiling = ceilingOf(day);
  let used = usedOf(day);
  return waiting.filter(({ need }) => {
    const wanted = sumOfAmounts([used, need]);
    const isOver = (name: DayLimit) =>
      of(need, name) > 0 && of(wanted, name) > (ceiling[name] ?? Number.POSITIVE_INFINITY);
    if (DAY_LIMITS.some(isOver)) return false;
    used = wanted;
    return true;
  });
}

/** Counts expired holds as spent, because it is unknown how much of them was spent. */
function withoutExpired(day: DayBudget, now: number): DayBudget {
  const dead = day.holds.filter(({ expiresAt }) => expiresAt <= now);
  if (dead.length === 0) return day;
  return {
    ...day,
    spent: sumOfAmounts([day.spent, ...dead.map(({ granted }) => granted)]),
    holds: day.holds.filter((hold) => !dead.includes(hold)),
  };
}

function learned(known: DayBudget['largest'], kinds: DayBudget['largest']): DayBudget['largest'] {
  const all = { ...known };
  for (const [kind, spend] of Object.entries(kinds)) {
    if (kind.length > MAX_KIND_CHARS) continue;
    if (all[kind] === undefined && Object.keys(all).length >= MAX_KINDS) continue;
    all[kind] = largerOf(all[kind], spend);
  }
  return all;
}

/** Sum, member by member. */
export function sumOfAmounts(all: readonly DayAmounts[]): DayAmounts {
  return amounts((name) => all.reduce((sum, one) => sum + of(one, name), 0) || undefined);
}

export function of(all: DayAmounts, name: DayLimit): number {
  return all[name] ?? 0;
}

function amounts(amount: (name: DayLimit) => number | undefined): DayAmounts {
  const members = DAY_LIMITS.flatMap((name) => {
    const found = amount(name);
    return found === undefined ? [] : [[name, found]];
  });
  return Object.fromEntries(members);
}
