import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CompletionRule,
  type ItemCounts,
  type ItemState,
  SetProgress,
  type SetStatus,
  statusOfSet,
} from '../../../packages/cairn/src/core/decisions/item-progress.ts';
import { MAX_ITEMS } from '../../../packages/cairn/src/core/run/limits.ts';

const ALL: CompletionRule = { kind: 'all' };
const tolerate = (failures: number): CompletionRule => ({ kind: 'tolerate', failures });
const share = (percent: number): CompletionRule => ({ kind: 'share', percent });
const atLeast = (successes: number): CompletionRule => ({ kind: 'at_least', successes });

describe('whether the outcome of a set of items is decided', () => {
  test.each<[string, CompletionRule, readonly [number, number, number], SetStatus]>([
    ['no items: nothing is missing', ALL, [0, 0, 0], 'succeeded'],
    ['all: one is missing', ALL, [3, 2, 0], 'open'],
    ['all: none is missing', ALL, [3, 3, 0], 'succeeded'],
    ['all: the first failure decides', ALL, [3, 0, 1], 'failed'],
    ['two may fail: two have, the others are waited for', tolerate(2), [5, 2, 2], 'open'],
    ['two may fail: two have', tolerate(2), [5, 3, 2], 'succeeded'],
    ['two may fail: three have', tolerate(2), [5, 0, 3], 'failed'],
    ['more may fail than there are: all are waited for', tolerate(9), [2, 0, 1], 'open'],
    ['more may fail than there are: all have', tolerate(9), [2, 0, 2], 'succeeded'],
    ['none may fail is the same as all', tolerate(0), [2, 1, 1], 'failed'],
    ['a tenth of nine is none', share(10), [9, 8, 1], 'failed'],
    ['a tenth of ten is one', share(10), [10, 9, 1], 'succeeded'],
    ['a tenth of nineteen is one', share(10), [19, 17, 2], 'failed'],
    ['none of any may fail', share(0), [1_000, 1, 1], 'failed'],
    ['all of any may fail', share(100), [3, 0, 3], 'succeeded'],
    ['a share of none', share(50), [0, 0, 0], 'succeeded'],
    ['two must succeed: they have, before the others', atLeast(2), [5, 2, 0], 'succeeded'],
    ['two must succeed: two still can', atLeast(2), [5, 0, 3], 'open'],
    ['two must succeed: only one still can', atLeast(2), [5, 0, 4], 'failed'],
    ['two must succeed: of one that cannot be', atLeast(2), [1, 0, 0], 'failed'],
    ['none must succeed', atLeast(0), [3, 0, 0], 'succeeded'],
  ])('%s', (_, completion, [items, succeeded, failed], status) => {
    expect(statusOfSet(completion, { items, succeeded, failed })).toBe(status);
  });

  test('a share is the exact decimal fraction as written, for every number of items', () => {
    for (let thousandths = 0; thousandths <= 100_000; thousandths += 100) {
      const percent = Number((thousandths / 1_000).toFixed(3));
      for (let items = 1; items <= MAX_ITEMS; items += 7) {
        const most = Number((BigInt(items) * BigInt(thousandths)) / 100_000n);
        const status = (failed: number) =>
          statusOfSet(share(percent), { items, succeeded: items - failed, failed });
        if (status(most) !== 'succeeded') throw new Error(`${percent} % of ${items} must allow ${most}`);
        if (most < items && status(most + 1) !== 'failed')
          throw new Error(`${percent} % of ${items} must not allow ${most + 1}`);
      }
    }
    expect(statusOfSet(share(16.4), { items: 750, succeeded: 627, failed: 123 })).toBe('succeeded');
  });

  test('agrees with an exhaustive search of all outcomes', () => {
    fc.assert(
      fc.property(completions(), countsOf(8), (completion, counts) => {
        expect(statusOfSet(completion, counts)).toBe(judged(completion, counts));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is not revoked by later outcomes', () => {
    fc.assert(
      fc.property(completions(), countsOf(8), fc.boolean(), (completion, counts, succeeds) => {
        const { items, succeeded, failed } = counts;
        const before = statusOfSet(completion, counts);
        if (before === 'open' || succeeded + failed === items) return;
        const next = succeeds
          ? { items, succeeded: succeeded + 1, failed }
          : { items, succeeded, failed: failed + 1 };
        expect(statusOfSet(completion, next)).toBe(before);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the progress of a set of items', () => {
  test('begins items in order, and at most the allowed number at once', () => {
    const progress = new SetProgress(idle(4), ALL, 2);
    expect(begin(progress)).toBe(0);
    expect(begin(progress)).toBe(1);
    expect(progress.next()).toBeUndefined();
    progress.settle(1, 'succeeded');
    expect(begin(progress)).toBe(2);
    expect([progress.open, progress.status]).toEqual([2, 'open']);
  });

  test('continues where an earlier dispatch stopped', () => {
    const progress = new SetProgress(['succeeded', 'idle', 'open', 'idle', 'failed'], tolerate(1), 3);
    expect(progress.open).toBe(1);
    expect([begin(progress), begin(progress), progress.next()]).toEqual([1, 3, undefined]);
    progress.settle(1, 'failed');
    expect(progress.status).toBe('failed');
  });

  test('begins nothing after it is decided, and counts items that still end', () => {
    const progress = new SetProgress(idle(5), atLeast(1), 2);
    begin(progress);
    begin(progress);
    progress.settle(1, 'succeeded');
    expect([progress.status, progress.next(), progress.open]).toEqual(['succeeded', undefined, 1]);
    progress.settle(0, 'failed');
    expect([progress.status, progress.open]).toEqual(['succeeded', 0]);
  });

  test('begins an idle item again', () => {
    const progress = new SetProgress(idle(3), ALL, 1);
    begin(progress);
    progress.settle(0, 'idle');
    expect(progress.open).toBe(0);
    expect(begin(progress)).toBe(0);
  });

  test('ignores an item that is not in the set', () => {
    const progress = new SetProgress(idle(1), ALL, 1);
    progress.settle(7, 'failed');
    expect([progress.status, progress.stateOf(7), progress.stateOf(0)]).toEqual(['open', undefined, 'idle']);
  });

  test('has the same counts as a full recount after any changes', () => {
    const moves = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.constantFrom<ItemState>(...STATES)), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<ItemState>(...STATES), { maxLength: 10 }),
        completions(),
        fc.integer({ min: 1, max: 4 }),
        moves,
        (begun, completion, concurrency, changes) => {
          const model = [...begun];
          const progress = new SetProgress(begun, completion, concurrency);
          for (const [index, state] of changes) {
            progress.settle(index, state);
            if (index < model.length) model[index] = state;
            const count = (of: ItemState) => model.filter((one) => one === of).length;
            const counts = { items: model.length, succeeded: count('succeeded'), failed: count('failed') };
            const status = statusOfSet(completion, counts);
            expect(progress.status).toBe(status);
            expect(progress.open).toBe(count('open'));
            const mayBegin = status === 'open' && count('open') < concurrency && model.includes('idle');
            expect(progress.next()).toBe(mayBegin ? model.indexOf('idle') : undefined);
            expect(progress.stateOf(index)).toBe(model[index]);
          }
        },
      ),
    );
  });

  test('is decided after the last item, and begins no item twice', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 30 }), completions(), (succeeds, completion) => {
        const progress = new SetProgress(idle(succeeds.length), completion, 3);
        const began: number[] = [];
        for (let i = begin(progress); i !== undefined; i = begin(progress)) {
          began.push(i);
          if (progress.open === 3 || i === succeeds.length - 1) {
            for (const j of began) {
              if (progress.stateOf(j) === 'open') progress.settle(j, succeeds[j] ? 'succeeded' : 'failed');
            }
          }
        }
        expect(progress.status).not.toBe('open');
        expect(began).toEqual(began.map((_, i) => i));
      }),
    );
  });
});

const STATES = ['idle', 'open', 'succeeded', 'failed'] as const;

function idle(count: number): ItemState[] {
  return Array.from({ length: count }, () => 'idle');
}

function begin(progress: SetProgress): number | undefined {
  const index = progress.next();
  if (index !== undefined) progress.settle(index, 'open');
  return index;
}

function completions(): fc.Arbitrary<CompletionRule> {
  return fc.oneof(
    fc.constant(ALL),
    fc.nat({ max: 9 }).map(tolerate),
    fc.nat({ max: 100 }).map(share),
    fc.nat({ max: 9 }).map(atLeast),
  );
}

function countsOf(most: number): fc.Arbitrary<ItemCounts> {
  return fc.array(fc.constantFrom('succeeded', 'failed', 'left'), { maxLength: most }).map((items) => ({
    items: items.length,
    succeeded: items.filter((item) => item === 'succeeded').length,
    failed: items.filter((item) => item === 'failed').length,
  }));
}

/** Plays every outcome of the remaining items, and returns their common result. */
function judged(completion: CompletionRule, { items, succeeded, failed }: ItemCounts): SetStatus {
  const left = items - succeeded - failed;
  const endings: boolean[] = [];
  for (let outcomes = 0; outcomes < 2 ** left; outcomes += 1) {
    const more = outcomes.toString(2).replaceAll('0', '').length;
    endings.push(isGood(completion, items, items - succeeded - more));
  }
  if (!endings.includes(true)) return 'failed';
  // A rule that tolerates failures waits for every result; a rule of n successes stops at n.
  const enough = completion.kind === 'at_least' ? !endings.includes(false) : left === 0;
  return enough ? 'succeeded' : 'open';
}

function isGood(completion: CompletionRule, items: number, failures: number): boolean {
  switch (completion.kind) {
    case 'all':
      return failures === 0;
    case 'tolerate':
      return failures <= completion.failures;
    case 'share':
      return failures * 100 <= completion.percent * items;
    case 'at_least':
      return items - failures >= completion.successes;
  }
}
