import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { difference, MAX_CHANGES } from '../../../packages/console/src/parts/json-view/diff.ts';
import { matched } from '../../../packages/console/src/parts/json-view/matched.ts';

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('the difference of two values', () => {
  test.each([
    ['the same', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    ['a member that changed', { a: 1, b: 2 }, { a: 1, b: 3 }, [['changed', '/b', 2, 3]]],
    ['one that was put in', {}, { a: null }, [['added', '/a', undefined, null]]],
    ['one that was taken away', { a: 1 }, {}, [['removed', '/a', 1, undefined]]],
    ['another kind', { a: [] }, { a: {} }, [['changed', '/a', [], {}]]],
    ['an item in front', [1, 2, 3], [0, 1, 2, 3], [['added', '/0', undefined, 0]]],
    ['an item that is gone', [1, 2, 3], [1, 3], [['removed', '/1', 2, undefined]]],
    ['within an item', [{ id: 1, v: 'x' }, 7], [{ id: 1, v: 'y' }, 7], [['changed', '/0/v', 'x', 'y']]],
    ['the value itself', 1, 'x', [['changed', '', 1, 'x']]],
  ])('%s', (_, before, after, expected) => {
    const changes = difference(before, after).changes.map((change) => [
      change.kind,
      change.path.map((step) => `/${step}`).join(''),
      'before' in change ? change.before : undefined,
      'after' in change ? change.after : undefined,
    ]);
    expect(changes).toEqual(expected);
  });

  test('is empty only for equal values, and names the same places when swapped', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const there = difference(before, after).changes;
        const back = difference(after, before).changes;
        expect(difference(before, before).changes).toEqual([]);
        expect(there.length === 0).toBe(JSON.stringify(before) === JSON.stringify(after));
        const count = (kind: string, changes: typeof there) => changes.filter((c) => c.kind === kind).length;
        expect(count('added', there) - count('removed', there)).toBe(
          count('removed', back) - count('added', back),
        );
      }),
    );
  });

  test('an inserted list item is shown as inserted, at any position', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer(), { maxLength: 20 }), fc.nat(), (list, at) => {
        const place = at % (list.length + 1);
        const longer = list.toSpliced(place, 0, 'new' as never);
        expect(difference(list, longer).changes).toEqual([{ kind: 'added', path: [place], after: 'new' }]);
      }),
    );
  });

  test('of two values with nothing in common is marked as truncated', () => {
    const numbers = (from: number) => Array.from({ length: 3_000 }, (_, at) => from + at);
    const found = difference(numbers(0), numbers(10_000));
    expect(found.changes).toHaveLength(MAX_CHANGES);
    expect(found.isCut).toBe(true);
  });
});

test('matched items are equal, in order on both sides, and as many as possible', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 7 });
  fc.assert(
    fc.property(letters, letters, (left, right) => {
      const pairs = matched(left, right);
      for (const [at, [l, r]] of pairs.entries()) {
        expect(left[l]).toBe(right[r]);
        const [beforeL, beforeR] = pairs[at - 1] ?? [-1, -1];
        expect(l).toBeGreaterThan(beforeL);
        expect(r).toBeGreaterThan(beforeR);
      }
      expect(pairs).toHaveLength(most(left, right));
    }),
  );
});

test('of long lists with few differences shows only those', () => {
  const long = Array.from({ length: 20_000 }, (_, at) => ({ at, even: at % 2 === 0 }));
  const other = long
    .toSpliced(100, 2)
    .toSpliced(9_000, 1, { at: -1, even: true })
    .toSpliced(15_000, 0, { at: -2, even: false });
  expect(difference(long, other).changes).toEqual([
    { kind: 'removed', path: [100], before: { at: 100, even: true } },
    { kind: 'removed', path: [101], before: { at: 101, even: false } },
    { kind: 'changed', path: [9_000, 'at'], before: 9_002, after: -1 },
    { kind: 'added', path: [15_000], after: { at: -2, even: false } },
  ]);
});

/** Finds the longest common subsequence by trying everything. */
function most([first, ...left]: readonly string[], right: readonly string[]): number {
  if (first === undefined) return 0;
  const at = right.indexOf(first);
  const without = most(left, right);
  return at < 0 ? without : Math.max(without, 1 + most(left, right.slice(at + 1)));
}
