/**
 * The budget after one more event. An end of an attempt says what the attempt spent (`spent`). Where it does not, because its
 * process died and others settled the step, what the attempt had reserved counts as spent.
 */
import type { RunEvent, Wait } from '../run/events.ts';
import { stepKey } from '../run/state.ts';
import { BUDGET_NAMES, type BudgetLimits, type BudgetState, type Cost } from './budget.ts';

/** @param waits those that were open before the event */
export function budgetAfter(budget: BudgetState, event: RunEvent, waits: readonly Wait[]): BudgetState {
  switch (event.type) {
    case 'step_started': {
      const after = attemptEnded(budget, stepKey(event.data), undefined);
      const { reserved } = event.data;
      if (reserved === undefined) return after;
      return { ...after, reserved: [...after.reserved, { step: stepKey(event.data), ...reserved }] };
    }
    case 'step_succeeded':
    case 'step_degraded':
    case 'step_skipped':
    case 'step_failed':
    case 'step_retry_scheduled':
      return attemptEnded(budget, stepKey(event.data), event.data.spent);
    case 'effect_attempted':
      return event.data.presumed ? budget : withEffect(budget);
    case 'wait_opened':
      return attemptEnded(budget, stepKey(event.data.wait.execution), event.data.spent);
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

/** @param spent undefined: nobody knows, so what it had reserved, if anything */
function attemptEnded(budget: BudgetState, step: string, spent: Cost | undefined): BudgetState {
  const open = budget.reserved.find((reservation) => reservation.step === step);
  const cost = spent ?? open;
  if (cost === undefined) return budget;
  const { microUsd = 0, tokens = 0 } = cost;
  return {
    ...budget,
    spent: {
      ...budget.spent,
      microUsd: budget.spent.microUsd + microUsd,
      tokens: budget.spent.tokens + tokens,
      operations: budget.spent.operations + 1,
    },
    reserved: open ? budget.reserved.filter((reservation) => reservation !== open) : budget.reserved,
  };
}

function withEffect(budget: BudgetState): BudgetState {
  return { ...budget, spent: { ...budget.spent, effects: budget.spent.effects + 1 } };
}

/** What is unlimited stays unlimited. */
export function raised(limits: BudgetLimits, by: BudgetLimits): BudgetLimits {
  const members = BUDGET_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [[name, limit + (by[name] ?? 0)]];
  });
  return Object.fromEntries(members);
}
