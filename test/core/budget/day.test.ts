/** Dispatches that share the budget of a day never exceed the limit, despite deaths, delays and lost responses. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  admittable,
  ceilingOf,
  type DayAmounts,
  type DayBudget,
  dayAfter,
  dayBefore,
  dayOf,
  MAX_HOLDS,
  MAX_KINDS,
  MAX_RAISES,
  newDayBudget,
  raise,
  settleHold,
  sumOfAmounts,
  take,
  usedOf,
} from '../../../packages/cairn/src/core/budget/day.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const LIMIT = 1_000;
const empty = (limits: DayAmounts = { microUsd: LIMIT }) =>
  newDayBudget({ tenantId: 't1', day: '2026-11-23', limits });

const taking = (owner: string, need: DayAmounts, more: Partial<Parameters<typeof take>[1]> = {}) => ({
  owner,
  need,
  reserved: {},
  expiresAt: NOW + 1_000,
  limits: { microUsd: LIMIT },
  ...more,
});

function granted(budget: DayBudget, ...[owner, need, more]: Parameters<typeof taking>): DayBudget {
  const taken = take(budget, taking(owner, need, more), NOW);
  if (taken.kind !== 'granted' || !taken.day) throw new Error(`${owner} was not granted: ${taken.kind}`);
  return taken.day;
}

describe('a dispatch', () => {
  test('is granted exactly what it needs the first time', () => {
    expect(granted(empty(), 'a', { microUsd: 30 }).holds).toEqual([
      { owner: 'a', granted: { microUsd: 30 }, expiresAt: NOW + 1_000 },
    ]);
  });

  test('that asks again is granted more: as much as it holds, a hundredth of the limit or a tenth of the rest', () => {
    const small = granted(empty(), 'a', { microUsd: 4 });
    expect(granted(small, 'a', { microUsd: 4 }, { reserved: { microUsd: 4 } }).holds[0]?.granted).toEqual({
      microUsd: 12,
    });
    const large = granted(empty(), 'a', { microUsd: 400 });
    expect(granted(large, 'a', { microUsd: 400 }, { reserved: { microUsd: 400 } }).holds[0]?.granted).toEqual(
      {
        microUsd: 810,
      },
    );
    const most = granted(empty(), 'a', { microUsd: 500 });
    expect(granted(most, 'a', { microUsd: 450 }, { reserved: { microUsd: 500 } }).holds[0]?.granted).toEqual({
      microUsd: 955,
    });
  });

  test('that repeats its request after a lost response is granted nothing twice', () => {
    const day = granted(empty(), 'a', { microUsd: 30 });
    expect(take(day, taking('a', { microUsd: 30 }), NOW)).toEqual({
      kind: 'granted',
      reserved: { microUsd: 30 },
    });
  });

  test('waits if other dispatches may release enough, and asks if they cannot', () => {
    const day = granted(empty(), 'a', { microUsd: 800 });
    expect(take(day, taking('b', { microUsd: 300 }), NOW)).toEqual({ kind: 'busy' });
    expect(take(day, taking('b', { microUsd: LIMIT + 1 }), NOW)).toMatchObject({
      kind: 'reached',
      names: ['microUsd'],
    });
    const settled = settleHold(day, { owner: 'a', spent: { microUsd: 800 } }) ?? day;
    expect(take(settled, taking('b', { microUsd: 300 }), NOW)).toMatchObject({ kind: 'reached' });
    expect(take(settled, taking('b', { microUsd: 200 }), NOW)).toMatchObject({ kind: 'granted' });
  });

  test('that died counts as having spent what it reserved, after its hold expires', () => {
    const day = granted(empty(), 'a', { microUsd: 800 });
    expect(take(day, taking('b', { microUsd: 300 }), NOW + 1_000)).toMatchObject({
      kind: 'reached',
      day: { spent: { microUsd: 800 }, holds: [] },
    });
    const next = take(day, taking('b', { microUsd: 200 }), NOW + 1_000);
    expect(next).toMatchObject({ kind: 'granted', day: { spent: { microUsd: 800 } } });
    // The dispatch was alive, but its reservation was already counted.
    const after = next.kind === 'granted' && next.day ? next.day : day;
    expect(settleHold(after, { owner: 'a', spent: { microUsd: 100 } })).toBeUndefined();
  });

  test('is granted what it has already spent, even beyond the limit', () => {
    const day = granted(empty(), 'a', { microUsd: 1_500 }, { isSpent: true });
    expect(usedOf(day)).toEqual({ microUsd: 1_500 });
    expect(take(day, taking('b', { microUsd: 1 }), NOW)).toMatchObject({ kind: 'busy' });
  });

  test('waits while the number of holds is at its limit', () => {
    const holds = Array.from({ length: MAX_HOLDS }, (_, i) => ({
      owner: `o${i}`,
      granted: {},
      expiresAt: NOW + 1,
    }));
    expect(take({ ...empty(), holds }, taking('a', { microUsd: 1 }), NOW)).toEqual({ kind: 'busy' });
    expect(take({ ...empty(), holds }, taking('o1', { microUsd: 1 }), NOW)).toMatchObject({
      kind: 'granted',
    });
    expect(take({ ...empty(), holds }, taking('a', { microUsd: 1 }), NOW + 1)).toMatchObject({
      kind: 'granted',
    });
  });

  test('is subject to the currently configured limits only', () => {
    const day = granted(empty({ microUsd: 1 }), 'a', { microUsd: 900 });
    expect(day.limits).toEqual({ microUsd: LIMIT });
    expect(take(day, taking('b', { tokens: 1_000_000 }, { limits: {} }), NOW)).toMatchObject({
      kind: 'granted',
    });
  });
});

describe('the memory of a day', () => {
  test('has each raise once, the newest with their authors, and the sum of all', () => {
    let day = empty();
    for (let i = 0; i < MAX_RAISES + 5; i += 1) {
      const given = { id: `r${i}`, by: 'c.ada', at: NOW + i, amounts: { microUsd: 2 } };
      day = raise(day, given) ?? day;
      expect(raise(day, given)).toBeUndefined();
    }
    expect(day.raises.length).toBe(MAX_RAISES);
    expect(ceilingOf(day)).toEqual({ microUsd: LIMIT + 2 * (MAX_RAISES + 5) });
  });

  test('has the highest cost of each kind of attempt, within the size of a document', () => {
    const kinds = Object.fromEntries(Array.from({ length: MAX_KINDS }, (_, i) => [`k${i}`, { microUsd: i }]));
    const day = granted(empty(), 'a', { microUsd: 1 }, { kinds });
    const more = { k7: { microUsd: 3, tokens: 9 }, k8: { microUsd: 99 }, another: { microUsd: 1 } };
    const { largest } = settleHold(day, { owner: 'a', spent: {}, kinds: more }) ?? day;
    expect(largest.k7).toEqual({ microUsd: 7, tokens: 9 });
    expect(largest.k8).toEqual({ microUsd: 99, tokens: 0 });
    expect(largest.another).toBeUndefined();
  });
});

test('days begin at midnight UTC', () => {
  expect(dayOf(NOW)).toBe('2026-11-23');
  expect(dayAfter(NOW)).toBe(Date.parse('2026-11-24'));
  expect(dayAfter(Date.parse('2026-11-24'))).toBe(Date.parse('2026-11-25'));
  expect(dayOf(dayBefore(NOW))).toBe('2026-11-22');
  expect(dayOf(dayBefore(Date.parse('2026-11-23')))).toBe('2026-11-22');
});

/** Result of a dispatch's write; `dies`: the dispatch dies with it, applied or not. */
const fate = fc.constantFrom('known', 'known', 'known', 'lost', 'lost but applied', 'dies', 'dies, applied');
const move = fc.record({
  who: fc.nat({ max: 4 }),
  what: fc.constantFrom('begin', 'begin', 'begin', 'end', 'leave', 'look'),
  need: fc.integer({ min: 1, max: 200 }),
  /** Share of its reservation that a call costs. */
  share: fc.integer({ min: 0, max: 100 }),
  fates: fc.array(fate, { maxLength: 4 }),
  waitMs: fc.nat({ max: 300 }),
});

/** One document, and dispatches that know different versions of it. */
class Shared {
  budget = empty();
  version = 0;
  now = NOW;
  /** Spent by calls, of dispatches dead or alive. */
  spent = 0;
  /** Maximum that running calls may still spend. */
  open = 0;
}

class Dispatch {
  readonly #shared: Shared;
  readonly #owner: string;
  readonly #expiresAt: number;
  #seen: { readonly budget: DayBudget; readonly version: number } | undefined;
  reserved: DayAmounts = {};
  used = 0;
  readonly calls: number[] = [];
  isOver = false;

  constructor(shared: Shared, owner: string) {
    this.#shared = shared;
    this.#owner = owner;
    this.#expiresAt = shared.now + 1_000;
  }

  begin(need: number, fates: string[]): void {
    const missing = Math.max(0, this.used + need - (this.reserved.microUsd ?? 0));
    const request = taking(
      this.#owner,
      { microUsd: missing },
      { reserved: this.reserved, expiresAt: this.#expiresAt },
    );
    const taken = this.#change((budget) => take(budget, request, this.#shared.now), fates);
    if (taken?.kind !== 'granted') return;
    this.reserved = taken.reserved;
    this.used += need;
    this.calls.push(need);
    this.#shared.open += need;
  }

  end(share: number): void {
    const reserved = this.calls.pop();
    if (reserved === undefined) return;
    const cost = Math.floor((reserved * share) / 100);
    this.#shared.open -= reserved;
    this.#shared.spent += cost;
    this.used += cost - reserved;
  }

  leave(fates: string[]): void {
    const settling = { owner: this.#owner, spent: { microUsd: this.used } };
    while (this.calls.length > 0) this.end(100);
    if (this.reserved.microUsd)
      this.#change((budget) => {
        const day = settleHold(budget, settling);
        return day ? { kind: 'settled', day } : { kind: 'settled' };
      }, fates);
    this.isOver = true;
  }

  look(): void {
    const { budget, version } = this.#shared;
    this.#seen = { budget, version };
  }

  /** Writes like the engine: conditional on the read version, repeated after a loss; a stale read never leads to a refusal. */
  #change<T extends { readonly kind: string; readonly day?: DayBudget }>(
    decide: (budget: DayBudget) => T,
    fates: string[],
  ): T | undefined {
    for (;;) {
      const isFresh = !this.#seen;
      if (!this.#seen) this.look();
      const seen = this.#seen ?? { budget: this.#shared.budget, version: this.#shared.version };
      const decided = decide(seen.budget);
      if (decided.kind === 'reached' || decided.kind === 'busy' || !decided.day) {
        if (isFresh) return decided;
        this.#seen = undefined;
        continue;
      }
      const end = fates.shift() ?? 'known';
      const isApplied = end === 'known' || end.endsWith('applied');
      const isCurrent = seen.version === this.#shared.version;
      if (isApplied && isCurrent) {
        this.#shared.budget = decided.day;
        this.#shared.version += 1;
      }
      if (end.startsWith('dies')) {
        this.#die();
        return undefined;
      }
      this.#seen =
        end === 'known' && isCurrent ? { budget: decided.day, version: this.#shared.version } : undefined;
      if (this.#seen) return decided;
    }
  }

  /** Calls that have begun may have cost all that they reserved. */
  #die(): void {
    while (this.calls.length > 0) this.end(100);
    this.isOver = true;
  }
}

test('for any interleaving, deaths and lost responses, actual and possible spending is accounted for, and within the limit', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const shared = new Shared();
      const alive = new Map<number, Dispatch>();
      let made = 0;
      for (const { who, what, need, share, fates, waitMs } of moves) {
        shared.now += waitMs;
        const known = alive.get(who);
        // A dispatch that outlives its hold counts twice, which is safe.
        if (!known || known.isOver) {
          made += 1;
          alive.set(who, new Dispatch(shared, `d${made}`));
        }
        const dispatch = alive.get(who);
        if (what === 'begin') dispatch?.begin(need, [...fates]);
        if (what === 'end') dispatch?.end(share);
        if (what === 'leave') dispatch?.leave([...fates]);
        if (what === 'look') dispatch?.look();
        const accounted = usedOf(shared.budget).microUsd ?? 0;
        expect(accounted).toBeLessThanOrEqual(LIMIT);
        expect(shared.spent + shared.open).toBeLessThanOrEqual(accounted);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('without a death the document has the exact spending after all dispatches have ended', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const shared = new Shared();
      const dispatches = Array.from({ length: 5 }, (_, i) => new Dispatch(shared, `d${i}`));
      const survived = (fates: readonly string[]) => fates.filter((one) => !one.startsWith('dies'));
      for (const { who, what, need, share, fates } of moves) {
        const dispatch = dispatches[who];
        if (what === 'begin') dispatch?.begin(need, survived(fates));
        if (what === 'end') dispatch?.end(share);
        if (what === 'look') dispatch?.look();
      }
      for (const dispatch of dispatches) dispatch.leave([]);
      expect(shared.budget.holds).toEqual([]);
      expect(sumOfAmounts([shared.budget.spent])).toEqual(
        shared.spent === 0 ? {} : { microUsd: shared.spent },
      );
    }),
    { numRuns: 1_000 },
  );
});

describe('runs that wait for the budget of a day', () => {
  test('are admitted in order while their needs fit', () => {
    const day = { ...empty({ microUsd: 100, effects: 2 }), spent: { microUsd: 40 } };
    const reserved = { owner: 'a', granted: { microUsd: 10 }, expiresAt: NOW + 1_000 };
    const waiting = [20, 40, 30, 0].map((microUsd) => ({ need: { microUsd, tokens: 1_000 } }));
    expect(admittable({ ...day, holds: [reserved] }, waiting).map(({ need }) => need.microUsd)).toEqual([
      20, 30, 0,
    ]);
    const effects = [1, 1, 1].map((one) => ({ need: { effects: one } }));
    expect(admittable({ ...day, raised: { effects: 1 }, spent: { effects: 1 } }, effects)).toHaveLength(2);
  });

  test('never exceed the available amount', () => {
    const need = fc.record({ microUsd: fc.nat(400), tokens: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(need, { maxLength: 20 }), fc.nat(LIMIT), (needs, spent) => {
        const day = { ...empty({ microUsd: LIMIT, tokens: LIMIT }), spent: { microUsd: spent } };
        const found = admittable(
          day,
          needs.map((one) => ({ need: one })),
        );
        const after = sumOfAmounts([usedOf(day), ...found.map((one) => one.need)]);
        expect(after.microUsd ?? 0).toBeLessThanOrEqual(LIMIT);
        expect(after.tokens ?? 0).toBeLessThanOrEqual(LIMIT);
      }),
    );
  });
});
