/** The daily budget of a tenant: its limits, and the amounts its runs have spent. */
import { ceilingOf, dayAfter, dayOf, newDayBudget, usedOf } from '../../core/budget/day.ts';
import { shownAmounts } from '../../core/budget/given.ts';
import { iso } from '../../core/run/readable.ts';
import { assertRole } from '../auth.ts';
import type { ReadHandler } from '../route.ts';

export const readDayBudget: ReadHandler<'GET /v1/budgets/today'> = async ({ deps, caller, query }) => {
  const { clock, dayBudgets, dayLimits } = deps;
  const { tenantId = caller.tenantId } = query;
  if (tenantId !== caller.tenantId) assertRole(caller, 'installation');
  const now = clock.now();
  const day = dayOf(now);
  const limits = dayLimits(tenantId)?.limits ?? {};
  const stored = await dayBudgets.read(tenantId, day);
  // Configured limits apply from the next call, so those stored are replaced.
  const budget = { ...(stored?.budget ?? newDayBudget({ tenantId, day, limits })), limits };
  const { spent, holds, raises } = budget;
  return {
    tenantId,
    day,
    nextDayAt: iso(dayAfter(now)),
    limits: shownAmounts(ceilingOf(budget)),
    spent: shownAmounts(spent),
    held: shownAmounts(usedOf({ spent: {}, holds })),
    raises: raises.map(({ by, at, amounts }) => ({ by, at: iso(at), amounts: shownAmounts(amounts) })),
  };
};
