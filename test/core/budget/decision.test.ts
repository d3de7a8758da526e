import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type BudgetLimits,
  type BudgetState,
  newBudget,
  type Spend,
} from '../../../packages/cairn/src/core/budget/budget.ts';
import {
  type BudgetDecision,
  budgetDecision,
  effectsReached,
  largerOf,
  spentBy,
  type UnderWay,
} from '../../../packages/cairn/src/core/budget/decision.ts';
import { budgetAfter } from '../../../packages/cairn/src/core/budget/fold.ts';
import { budgetLimits, estimatedSpend, microUsd } from '../../../packages/cairn/src/core/budget/given.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';

const NOW = 1_000_000;
const SITUATION = { startedAt: NOW, now: NOW };

function ask(budget: BudgetState, estimate: Spend | undefined, underWay: UnderWay[] = [], largest?: Spend) {
  return budgetDecision(
    budget,
    { kind: 'k', estimate, largest, actsAtOnce: false },
    { ...SITUATION, underWay },
  );
}

function event(type: string, data: object, at = NOW): RunEvent {
  return { type, data, at } as unknown as RunEvent;
}

const of = (step: string, more: object) => ({ stepId: step, revision: 1, attempt: 1, ...more });

describe('an attempt that is about to begin', () => {
  const budget = (limits: BudgetLimits, spent: Partial<BudgetState['spent']> = {}): BudgetState => ({
    ...newBudget(limits),
    spent: { ...newBudget(limits).spent, ...spent },
  });
  const flying = (reserved: Spend, kind = 'k', step = 'other', attempt = 1): UnderWay => ({
    step,
    revision: 1,
    attempt,
    kind,
    reserved,
  });
  const BEGIN = (reserve: Spend = {}): BudgetDecision => ({ kind: 'begin', reserve });
  const WAIT: BudgetDecision = { kind: 'wait' };
  const ASK = (...reached: (keyof BudgetLimits)[]): BudgetDecision => ({ kind: 'ask', reached });

  test.each<[string, BudgetDecision, BudgetDecision]>([
    ['fits with its estimate', ask(budget({ tokens: 10 }), { tokens: 10 }), BEGIN({ tokens: 10 })],
    ['does not fit with its estimate', ask(budget({ tokens: 9 }), { tokens: 10 }), ASK('tokens')],
    [
      'fits when those under way have settled',
      ask(budget({ tokens: 15 }), { tokens: 10 }, [flying({ tokens: 10 })]),
      WAIT,
    ],
    ['is declared to cost nothing', ask(budget({ tokens: 5 }, { tokens: 9 }), {}), BEGIN()],
    ['has no estimate and is the first of its kind', ask(budget({ tokens: 10 }), undefined), BEGIN()],
    [
      'has no estimate while the first of its kind is under way',
      ask(budget({ tokens: 10 }), undefined, [flying({})]),
      WAIT,
    ],
    [
      'has no estimate while the first of another kind is under way',
      ask(budget({ tokens: 10 }), undefined, [flying({}, 'else')]),
      BEGIN(),
    ],
    [
      'reserves the largest of its kind',
      ask(budget({ tokens: 10 }), undefined, [flying({ tokens: 4 })], { tokens: 4 }),
      BEGIN({ tokens: 4 }),
    ],
    [
      'waits where the largest of its kind does not fit beside others',
      ask(budget({ tokens: 7 }), undefined, [flying({ tokens: 4 })], { tokens: 4 }),
      WAIT,
    ],
    [
      'begins alone where the largest of its kind does not fit',
      ask(budget({ tokens: 3 }), undefined, [], { tokens: 4 }),
      BEGIN({ tokens: 4 }),
    ],
    [
      'has no estimate and nothing is left',
      ask(budget({ tokens: 3 }, { tokens: 3 }), undefined),
      ASK('tokens'),
    ],
    [
      'is one operation too many',
      ask(budget({ operations: 2 }, { operations: 2 }), undefined),
      ASK('operations'),
    ],
    [
      'may be one operation too many',
      ask(budget({ operations: 2 }, { operations: 1 }), undefined, [flying({})]),
      WAIT,
    ],
    [
      'meets two limits',
      ask(budget({ operations: 2, tokens: 1 }, { operations: 2 }), { tokens: 2 }),
      ASK('tokens', 'operations'),
    ],
  ])('%s', (_, decision, expected) => {
    expect(decision).toEqual(expected);
  });

  test('asks after its time is over, not counting the time spent asking', () => {
    const limited = newBudget({ wallClockMs: 100 });
    const at = (now: number, state = limited) =>
      budgetDecision(state, { kind: 'k', actsAtOnce: false }, { underWay: [], startedAt: NOW, now }).kind;
    expect([at(NOW + 99), at(NOW + 100), at(NOW + 100, { ...limited, askedMs: 1 })]).toEqual([
      'begin',
      'ask',
      'begin',
    ]);
  });

  test('asks before a body that acts immediately and cannot be stopped', () => {
    const state = { ...newBudget({ effects: 1 }), spent: { ...newBudget({}).spent, effects: 1 } };
    const decide = (actsAtOnce: boolean) =>
      budgetDecision(state, { kind: 'k', actsAtOnce }, { ...SITUATION, underWay: [] });
    expect([decide(true), decide(false)]).toEqual([ASK('effects'), BEGIN()]);
    expect(effectsReached(state)).toBe(true);
  });

  test('counts the reservation of a dead attempt as spent, and that of a running attempt once', () => {
    const state = {
      ...newBudget({ tokens: 10 }),
      reserved: [{ step: 'dead', revision: 1, attempt: 1, tokens: 6 }],
    };
    expect(ask(state, { tokens: 5 })).toEqual(ASK('tokens'));
    expect(ask(state, { tokens: 5 }, [flying({ tokens: 5 }, 'k', 'dead')])).toEqual(BEGIN({ tokens: 5 }));
    // The next attempt of the step has begun, and its reservation is not in the journal yet.
    expect(ask(state, { tokens: 1 }, [flying({ tokens: 4 }, 'k', 'dead', 2)])).toEqual({ kind: 'wait' });
  });
});

/** One action of a dispatch that drives attempts of one kind. */
type Turn =
  | { readonly kind: 'begin' }
  | { readonly kind: 'end'; readonly which: number }
  | { readonly kind: 'crash' }
  | { readonly kind: 'answer'; readonly raise: number };

const turns = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant<Turn>({ kind: 'begin' }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.constant<Turn>({ kind: 'crash' }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('answer' as const), raise: fc.integer({ min: 1, max: 60 }) }),
    },
  ),
  { maxLength: 120 },
);

interface Played {
  readonly budget: BudgetState;
  /** Tokens that attempts used, including dead ones. */
  readonly used: number;
  readonly limit: number;
}

/** Plays the turns and calls `check` after each. */
function play(
  sequence: readonly Turn[],
  { estimate, costs }: { readonly estimate: number | undefined; readonly costs: readonly number[] },
  check: (played: Played) => void,
): void {
  const waits = [{ id: 'w', purpose: 'budget', openedAt: NOW }] as unknown as Parameters<
    typeof budgetAfter
  >[2];
  let budget = newBudget({ tokens: 100 });
  let underWay: (UnderWay & { readonly costs: number })[] = [];
  let largest: Spend | undefined;
  let used = 0;
  let begun = 0;
  for (const turn of sequence) {
    if (turn.kind === 'begin') {
      const given = estimate === undefined ? undefined : { tokens: estimate };
      const decision = ask(budget, given, underWay, largest);
      if (decision.kind !== 'begin') continue;
      const step = `s${begun}`;
      const costsNow = Math.min(costs[begun % costs.length] ?? 0, estimate ?? Number.POSITIVE_INFINITY);
      begun += 1;
      used += costsNow;
      underWay.push({
        step,
        revision: 1,
        attempt: 1,
        kind: 'k',
        reserved: decision.reserve,
        costs: costsNow,
      });
      if (decision.reserve.tokens)
        budget = budgetAfter(budget, event('step_started', of(step, { reserved: decision.reserve })), []);
    } else if (turn.kind === 'end') {
      const one = underWay[turn.which % Math.max(1, underWay.length)];
      if (!one) continue;
      const spent = spentBy({ tokens: one.costs }, estimate === undefined ? undefined : { tokens: estimate });
      budget = budgetAfter(budget, event('step_succeeded', of(one.step, { spent })), []);
      largest = largerOf(largest, spent);
      underWay = underWay.filter((other) => other !== one);
    } else if (turn.kind === 'crash') {
      // Another dispatch knows only the journal.
      underWay = [];
      largest = undefined;
    } else {
      budget = budgetAfter(
        budget,
        event('wait_resolved', { waitId: 'w', raise: { tokens: turn.raise } }),
        waits,
      );
    }
    check({ budget, used, limit: budget.limits.tokens ?? 0 });
  }
}

describe('attempts of a run with a budget', () => {
  const costs = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 20 });

  test('never exceed the limit if their estimates hold', () => {
    fc.assert(
      fc.property(turns, costs, fc.integer({ min: 1, max: 20 }), (sequence, spending, estimate) => {
        play(sequence, { estimate, costs: spending }, ({ used, limit }) =>
          expect(used).toBeLessThanOrEqual(limit),
        );
      }),
    );
  });

  test('count all spending, and the reservations of dead attempts', () => {
    fc.assert(
      fc.property(turns, costs, (sequence, spending) => {
        play(sequence, { estimate: 20, costs: spending }, ({ budget, used }) => {
          const reserved = budget.reserved.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
          expect(budget.spent.tokens + reserved).toBeGreaterThanOrEqual(used);
        });
      }),
    );
  });

  test('without estimates overrun the limit by one attempt at most, if all cost the same and none dies', () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 30 }), (sequence, cost) => {
        const living = sequence.filter(({ kind }) => kind !== 'crash');
        play(living, { estimate: undefined, costs: [cost] }, ({ used, limit }) =>
          expect(used).toBeLessThan(limit + cost),
        );
      }),
    );
  });
});

describe('an event that settles an attempt', () => {
  const open = {
    ...newBudget({ tokens: 10 }),
    reserved: [{ step: 'a', revision: 1, attempt: 1, tokens: 6 }],
  };

  test.each<[string, RunEvent, Partial<BudgetState['spent']>, number]>([
    [
      'says what it spent',
      event('step_succeeded', of('a', { spent: { tokens: 2 } })),
      { tokens: 2, operations: 1 },
      0,
    ],
    [
      'says that it spent nothing',
      event('step_failed', of('a', { spent: {} })),
      { tokens: 0, operations: 1 },
      0,
    ],
    ['does not know what it spent', event('step_degraded', of('a', {})), { tokens: 6, operations: 1 }, 0],
    ['begins another attempt', event('step_started', of('a', {})), { tokens: 6, operations: 1 }, 0],
    [
      'says what a later attempt spent, which had reserved nothing',
      event('step_succeeded', of('a', { attempt: 2, spent: { tokens: 2 } })),
      { tokens: 8, operations: 2 },
      0,
    ],
    ['is about another step', event('step_succeeded', of('b', {})), { tokens: 0, operations: 0 }, 1],
    [
      'opens a question',
      event('wait_opened', { wait: { execution: of('a', {}) }, spent: { tokens: 1 } }),
      { tokens: 1 },
      0,
    ],
    ['calls the outside', event('effect_attempted', of('a', {})), { effects: 1 }, 1],
    [
      'presumes a call before a restore',
      event('effect_attempted', of('a', { presumed: true })),
      { effects: 0 },
      1,
    ],
  ])('%s', (_, happened, spent, reserved) => {
    const after = budgetAfter(open, happened, []);
    expect(after.spent).toMatchObject(spent);
    expect(after.reserved).toHaveLength(reserved);
  });
});

test('reported amounts of an attempt count, including zero; unreported ones count as estimated', () => {
  const estimate = { microUsd: 5, tokens: 7 };
  expect(spentBy({}, estimate)).toEqual(estimate);
  expect(spentBy({ microUsd: 0 }, estimate)).toEqual({ microUsd: 0, tokens: 7 });
  expect(spentBy({ tokens: 9 }, estimate)).toEqual({ microUsd: 5, tokens: 9 });
  expect(spentBy({ tokens: 9 }, undefined)).toEqual({ tokens: 9 });
});

describe('amounts as decimals', () => {
  test('are kept in whole millionths of a dollar, never below', () => {
    expect([0.29, 1.1, 0.1 + 0.2, 1e-9].map((usd) => microUsd(usd, 'usd', 'above 0'))).toEqual([
      290_000, 1_100_000, 300_000, 1,
    ]);
    expect(budgetLimits({ usd: 2, wallClock: '2h' }, 'budget')).toEqual({
      microUsd: 2_000_000,
      wallClockMs: 7_200_000,
    });
    expect(estimatedSpend({ tokens: 0 }, 'estimate')).toEqual({ tokens: 0 });
  });

  test.each<[unknown, string]>([
    [{}, 'budget'],
    [7, 'budget'],
    [{ dollars: 1 }, 'budget'],
    [{ usd: 0 }, 'budget.usd'],
    [{ usd: Number.NaN }, 'budget.usd'],
    [{ usd: 2_000_000 }, 'budget.usd'],
    [{ tokens: 1.5 }, 'budget.tokens'],
    [{ effects: 0 }, 'budget.effects'],
    [{ operations: -1 }, 'budget.operations'],
    [{ wallClock: 'soon' }, 'budget.wallClock'],
    [{ wallClock: 0 }, 'budget.wallClock'],
  ])('%j is refused by name', (given, field) => {
    expect(() => budgetLimits(given, 'budget')).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', field }),
    );
  });
});
