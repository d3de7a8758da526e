/** Budgets of tenants for a UTC day, from the options of the installation. */
import { closest } from '../closest.ts';
import { invalidInput } from '../errors.ts';
import type { Spend } from './budget.ts';
import type { DayAmounts } from './day.ts';
import { budgetLimits, estimatedSpend, type GivenBudget, type GivenSpend } from './given.ts';

/** Limits of one tenant and UTC day, over all its runs. */
export interface DayBudgetLimits extends Omit<GivenBudget, 'wallClock'> {
  /** Reserved by an attempt without an estimate until one of its kind has ended. Default: nothing. */
  readonly estimate?: GivenSpend;
}

export interface BudgetOptions {
  /** Limits of each tenant that is not in `tenants`. Default: none. */
  readonly perTenantAndDay?: DayBudgetLimits;
  readonly tenants?: Readonly<Record<string, DayBudgetLimits | 'unlimited'>>;
}

/** Limits of one tenant, in the units of the state. */
export interface TenantLimits {
  readonly limits: DayAmounts;
  readonly estimate?: Spend | undefined;
}

/** Returns undefined for a tenant without limits, for which nothing is read or written. */
export type LimitsOf = (tenantId: string) => TenantLimits | undefined;

const MEMBERS: Readonly<Record<keyof BudgetOptions, true>> = { perTenantAndDay: true, tenants: true };

/** @throws CairnError INVALID_INPUT naming the member, TypeError for an unknown one */
export function dayLimits(given: BudgetOptions = {}): LimitsOf {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(MEMBERS, name)) continue;
    const near = closest(name, Object.keys(MEMBERS));
    const help =
      near === undefined ? `There are: ${Object.keys(MEMBERS).join(', ')}.` : `Did you mean '${near}'?`;
    throw new TypeError(`cairnFunctions: budgets: unknown option '${name}'. ${help}`);
  }
  const { perTenantAndDay, tenants = {} } = given;
  const usual = perTenantAndDay && limitsIn(perTenantAndDay, 'budgets.perTenantAndDay');
  const own = new Map(
    Object.entries(tenants).map(([tenantId, one]) => [
      tenantId,
      one === 'unlimited' ? undefined : limitsIn(one, `budgets.tenants.${tenantId}`),
    ]),
  );
  return (tenantId) => (own.has(tenantId) ? own.get(tenantId) : usual);
}

function limitsIn(given: DayBudgetLimits, field: string): TenantLimits {
  const { estimate, ...limits } = given;
  return {
    limits: dayAmounts(limits, field),
    estimate: estimate && estimatedSpend(estimate, `${field}.estimate`),
  };
}

/** Limits, or a raise, of a day. @throws CairnError INVALID_INPUT naming the member */
export function dayAmounts(given: unknown, field: string): DayAmounts {
  const { wallClockMs, ...amounts } = budgetLimits(given, field);
  if (wallClockMs === undefined) return amounts;
  throw invalidInput(`${field}.wallClock`, `'${field}.wallClock' limits a run, not a day`);
}
