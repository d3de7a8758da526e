/**
 * Raises the daily limits that a run asks about, for all runs of its tenant. The raise is written before the answer: if
 * the process dies in between, the limits are raised, and a repeated answer does not raise them again.
 */
import { DAY_LIMITS, type DayAmounts, type DayBudget, raise } from '../../core/budget/day.ts';
import { dayAmounts, type LimitsOf } from '../../core/budget/day-limits.ts';
import { givenLimit } from '../../core/budget/given.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { DayQuestion } from '../../core/run/events.ts';
import type { RunDeps } from '../../engine/deps.ts';
import { dayRaiseByDefault } from '../../engine/waits/budget-question.ts';
import { changeVersioned, OVERTAKEN } from '../../journal/change-versioned.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { DayBudgetStore } from '../../ports/runs/day-budget-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import type { DecideRequest } from './request.ts';

export interface DayBudgetDeps extends RunDeps {
  /** Absent: the caller never raises daily limits. */
  readonly dayBudgets?: DayBudgetStore;
  /** Limits of this deployment. Absent if `dayBudgets` is absent. */
  readonly dayLimits?: LimitsOf;
  /** Absent if `dayBudgets` is absent. */
  readonly finder?: Pick<RunFinder, 'asking'>;
}

/** @throws CairnError FORBIDDEN, INVALID_INPUT, UNAVAILABLE (send the same again) */
export async function raiseDay(
  deps: DayBudgetDeps,
  wait: DayQuestion,
  request: DecideRequest,
): Promise<void> {
  const { dayBudgets: store } = deps;
  const { tenantId, runId, actor: by } = request;
  const { day } = wait;
  if (!request.mayRaiseDay) throw forbidden(wait);
  if (!store) throw new Error(`'${wait.id}' asks about the budget of a day, and the installation has none`);
  await changeVersioned(`writes to the budget of ${day}`, async () => {
    const found = await sendUntilKnown(deps, () => store.read(tenantId, day));
    // The database was restored to a time before this day. The run checks its budget again and asks again if necessary.
    if (!found) return;
    const budget = asConfigured(deps, found.budget);
    const amounts = amountsOf(budget, wait, request);
    const id = `${runId} ${wait.id}`;
    const raised = raise(budget, { id, by, at: deps.clock.now(), amounts });
    if (!raised) return;
    const { kind } = await sendUntilKnown(deps, () => store.write(raised, found.version));
    if (kind === 'stale') return OVERTAKEN;
    deps.log.warn('day_budget_raised', { tenantId, day, runId, by, ...amounts });
    return;
  });
}

/** A deployment may have changed the limits since the last write. */
export function asConfigured({ dayLimits }: Pick<DayBudgetDeps, 'dayLimits'>, budget: DayBudget): DayBudget {
  return dayLimits ? { ...budget, limits: dayLimits(budget.tenantId)?.limits ?? {} } : budget;
}

function amountsOf(budget: DayBudget, wait: DayQuestion, { raise: given }: DecideRequest): DayAmounts {
  if (!given) return dayRaiseByDefault(budget, wait);
  const amounts = dayAmounts(given, 'raise');
  const unlimited = DAY_LIMITS.find(
    (name) => amounts[name] !== undefined && budget.limits[name] === undefined,
  );
  if (unlimited === undefined) return amounts;
  const member = givenLimit(unlimited);
  throw invalidInput(`raise.${member}`, `the budget of the day does not limit '${member}'`);
}

function forbidden({ dueAt, day }: DayQuestion): CairnError {
  const next = dueAt === undefined ? 'the next day' : new Date(dueAt).toISOString();
  return new CairnError(
    'FORBIDDEN',
    `raising the budget of ${day} of a tenant requires the role installation`,
    {
      help: `Use an API key with that role, in the API, the command line or the console. The run resumes by itself at ${next}.`,
    },
  );
}
