/**
 * Folds one event into the budget of a run. The event that ends an attempt has the amounts spent (`spent`). If it has none, because
 * the process died and another one settled the step, the amounts reserved by the attempt count as spent. So do the reservations of
 * earlier attempts of the step whose end is not in the journal.
 */
import type { RunEvent, StepRef, Wait } from '../run/events.ts';
import { stepKey } from '../run/state.ts';
import {
  type AttemptRef,
  BUDGET_NAMES,
  type BudgetLimits,
  type BudgetState,
  isSameAttempt,
  type Spend,
  sumOfSpends,
} from './budget.ts';

/** @param waits waits that were open before the event */
export function budgetAfter(budget: BudgetState, event: RunEvent, waits: readonly Wait[]): BudgetState {
  switch (event.type) {
    case 'step_started': {
      const attempt = attemptOf(event.data);
      const after = attemptEnded(budget, attempt, undefined);
      const { reserved } = event.data;
      if (reserved === undefined) return after;
      return { ...after, reserved: [...after.reserved, { ...attempt, ...reserved }] };
    }
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_failed':
    case 'step_retry_scheduled':
      return attemptEnded(budget, attemptOf(event.data), event.data.spent);
    case 'effect_attempted':
      if (event.data.presumed) return budget;
      return { ...budget, spent: { ...budget.spent, effects: budget.spent.effects + 1 } };
    case 'wait_opened':
      return attemptEnded(budget, attemptOf(event.data.wait.execution), event.data.spent);
    case 'wait_resolved': {
      const wait = waits.find(({ id }) => id === event.data.waitId);
      if (wait?.purpose !== 'budget') return budget;
      const askedMs = budget.askedMs + Math.max(0, event.at - wait.openedAt);
      return { ...budget, askedMs, limits: raised(budget.limits, event.data.raise ?? {}) };
    }
    default:
      return budget;
  }
}

/** @param spent undefined: unknown, so the attempt's reservation counts as spent */
function attemptEnded(budget: BudgetState, attempt: AttemptRef, spent: Spend | undefined): BudgetState {
  const open = budget.reserved.filter(({ step }) => step === attempt.step);
  const dead = spent === undefined ? open : open.filter((one) => !isSameAttempt(one, attempt));
  const spends: readonly Spend[] = spent === undefined ? dead : [...dead, spent];
  if (spends.length === 0) return budget;
  return {
    ...budget,
    spent: {
      ...budget.spent,
      ...sumOfSpends([budget.spent, ...spends]),
      operations: budget.spent.operations + spends.length,
    },
    reserved: open.length === 0 ? budget.reserved : budget.reserved.filter((one) => !open.includes(one)),
  };
}

function attemptOf(execution: StepRef & { readonly attempt: number }): AttemptRef {
  const { revision, attempt } = execution;
  return { step: stepKey(execution), revision, attempt };
}

/** Adds a raise to each limit. A raise of an unlimited amount changes nothing. */
export function raised(limits: BudgetLimits, by: BudgetLimits): BudgetLimits {
  const members = BUDGET_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [[name, limit + (by[name] ?? 0)]];
  });
  return Object.fromEntries(members);
}
