/** Spending of a run against its budget, in words. */
import type { Answer } from 'cairn/api/calls';
import { duration } from '../duration.ts';

const COUNTED = ['usd', 'tokens', 'effects', 'operations'] as const;

/**
 * A line for each limit, such as "1.2 of 5 USD, 0.5 more reserved". For the wall clock, which runs on between events, only the
 * limit.
 */
export function budgetLines({ limits, spent, reserved }: NonNullable<Answer<'Run'>['budget']>): string[] {
  const counted = COUNTED.flatMap((name) => {
    const limit = limits[name];
    if (limit === undefined) return [];
    const held = reserved[name] ?? 0;
    const more = held === 0 ? '' : `, ${amountText(held)} more reserved`;
    const unit = name === 'usd' ? 'USD' : name;
    return [`${amountText(spent[name] ?? 0)} of ${amountText(limit)} ${unit}${more}`];
  });
  const { wallClockMs } = limits;
  return wallClockMs === undefined ? counted : [...counted, `at most ${duration(wallClockMs)}`];
}

/** All digits, without binary rounding errors. */
export const amountText = (amount: number): string => String(Number(amount.toFixed(6)));
