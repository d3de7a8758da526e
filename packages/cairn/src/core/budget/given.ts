/** Checks budgets, raises and estimates as people write them, and converts them to the units of the state and back. */

import { parseDuration } from '../duration.ts';
import { invalidInput } from '../errors.ts';
import { isRecord } from '../is-record.ts';
import type { BudgetLimits, BudgetName, Spend } from './budget.ts';

/** A budget or a raise as written. `usd` in US dollars, `wallClock` as '2h' or ms. */
export interface GivenBudget {
  readonly usd?: number;
  readonly tokens?: number;
  readonly effects?: number;
  readonly operations?: number;
  readonly wallClock?: string | number;
}

/** Amounts of a raise, as written. */
export type GivenRaise = { readonly [K in keyof GivenBudget]?: GivenBudget[K] | undefined };

/** Most that a call costs, as written. */
export interface GivenSpend {
  readonly usd?: number;
  readonly tokens?: number;
}

/** A larger amount is a mistake; sums of it stay exact. */
const MAX_USD = 1_000_000;
const MAX_COUNT = 1_000_000_000_000;
const COUNTS = ['tokens', 'effects', 'operations'] as const;
const MEMBERS: readonly string[] = ['usd', ...COUNTS, 'wallClock'];

export function givenLimit(name: BudgetName): keyof GivenBudget {
  if (name === 'microUsd') return 'usd';
  return name === 'wallClockMs' ? 'wallClock' : name;
}

/** @throws CairnError INVALID_INPUT naming the member, `field` with a prefix such as `budget` */
export function budgetLimits(given: unknown, field: string): BudgetLimits {
  const members = membersOf(given, field, MEMBERS);
  const limits: Partial<Record<BudgetName, number>> = {};
  if (members.usd !== undefined) limits.microUsd = microUsd(members.usd, `${field}.usd`, 'above 0');
  for (const name of COUNTS) {
    if (members[name] !== undefined) limits[name] = count(members[name], `${field}.${name}`, 1);
  }
  const { wallClock } = members;
  if (wallClock !== undefined) limits.wallClockMs = wallClockMs(wallClock, `${field}.wallClock`);
  if (Object.keys(limits).length > 0) return limits;
  throw invalidInput(field, `'${field}' must limit at least one of ${MEMBERS.join(', ')}`);
}

/** @throws CairnError INVALID_INPUT naming the member */
export function estimatedSpend(given: unknown, field: string): Spend {
  const { usd, tokens } = membersOf(given, field, ['usd', 'tokens']);
  return {
    ...(usd === undefined ? {} : { microUsd: microUsd(usd, `${field}.usd`, 'of at least 0') }),
    ...(tokens === undefined ? {} : { tokens: count(tokens, `${field}.tokens`, 0) }),
  };
}

/** Rounds up to a whole millionth of a dollar. @throws CairnError INVALID_INPUT */
export function microUsd(usd: unknown, field: string, least: 'above 0' | 'of at least 0'): number {
  const isNumber = typeof usd === 'number' && Number.isFinite(usd) && usd <= MAX_USD;
  if (!isNumber || (least === 'above 0' ? usd <= 0 : usd < 0)) {
    throw invalidInput(field, `'${field}' must be a number of US dollars ${least} and at most ${MAX_USD}`);
  }
  return Math.ceil(Math.round(usd * 1e9) / 1e3);
}

/** The limits or the spending, for people. */
export function shownAmounts(
  amounts: BudgetLimits,
): Omit<GivenBudget, 'wallClock'> & { readonly wallClockMs?: number } {
  const { microUsd: micro, ...others } = amounts;
  return micro === undefined ? others : { usd: micro / 1e6, ...others };
}

function wallClockMs(given: unknown, field: string): number {
  const ms = parseDuration(given as string | number, field);
  if (ms > 0) return ms;
  throw invalidInput(field, `'${field}' must be longer than 0 ms`);
}

function count(given: unknown, field: string, least: number): number {
  const isCount = typeof given === 'number' && Number.isSafeInteger(given);
  if (isCount && given >= least && given <= MAX_COUNT) return given;
  throw invalidInput(field, `'${field}' must be an integer from ${least} to ${MAX_COUNT}`);
}

function membersOf(given: unknown, field: string, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(given)) {
    throw invalidInput(field, `'${field}' must be an object with ${known.join(', ')}`);
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return given as Record<string, unknown>;
  throw invalidInput(field, `'${field}' has no member '${unknown}'; use ${known.join(', ')}`);
}
