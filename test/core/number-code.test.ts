import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Comparing,
  codesThatAre,
  NUMBER_DIGITS,
  numberCode,
} from '../../packages/cairn/src/core/search/number-code.ts';

/** Prefixes that the closest range needs: up to three other digits at each position. */
const MAX_BEGINNINGS = NUMBER_DIGITS * 3;

/** Integers, amounts with cents, times and any double. */
const numbers = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000_000_000 }),
  fc.integer({ min: 0, max: 1_000_000 }).map((cents) => cents / 100),
  fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    0.5,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    Number.MIN_VALUE,
    2 ** 48,
    2 ** -16,
  ),
);
const comparisons = fc.constantFrom<Comparing>('>', '>=', '<', '<=');
const compares: Readonly<Record<Comparing, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};
const isFound = (value: number, beginnings: readonly string[]) =>
  beginnings.some((beginning) => numberCode(value).startsWith(beginning));

describe('the code of a number', () => {
  test('has the order of the numbers', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const [less, more] = a <= b ? [a, b] : [b, a];
        expect(numberCode(less) <= numberCode(more)).toBe(true);
        expect(numberCode(a)).toMatch(/^[0-3]{10}$/);
      }),
      { numRuns: 500 },
    );
  });

  test('is the same for both zeros', () => {
    expect(numberCode(-0)).toBe(numberCode(0));
  });

  test.each([
    [0, '2000000000'],
    [1, '2200000002'],
    [-1, '1133333331'],
    [100, '2231020002'],
    [19.99, '2220133331'],
    [1_760_000_000_000, '3301030323'],
    [1e300, '3333333333'],
    [-1e300, '0000000000'],
    [1e-300, '2000000001'],
  ])('of %d is stored as %s', (value, code) => {
    expect(numberCode(value)).toBe(code);
  });
});

describe('the prefixes of the numbers that compare', () => {
  test('are at most as many as requested, unique, and find every such number', () => {
    const near = fc
      .tuple(numbers, numbers, fc.boolean())
      .map(([a, b, isSame]) => [a, isSame ? a : b] as const);
    fc.assert(
      fc.property(near, comparisons, fc.integer({ min: 1, max: 40 }), ([than, value], is, most) => {
        const beginnings = codesThatAre(is, than, most);
        if (!beginnings) {
          expect(most).toBeLessThan(4);
          return;
        }
        expect(beginnings.length).toBeLessThanOrEqual(Math.min(most, MAX_BEGINNINGS));
        for (const one of beginnings)
          expect(beginnings.filter((beginning) => one.startsWith(beginning))).toEqual([one]);
        if (compares[is](value, than)) expect(isFound(value, beginnings)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('find no other integer up to 4,096', () => {
    const integers = fc.integer({ min: -4_096, max: 4_096 });
    fc.assert(
      fc.property(integers, integers, comparisons, (than, value, is) => {
        const beginnings = codesThatAre(is, than, MAX_BEGINNINGS) ?? [];
        for (const one of [value, than - 1, than, than + 1])
          if (Math.abs(one) <= 4_096) expect(isFound(one, beginnings)).toBe(compares[is](one, than));
      }),
      { numRuns: 500 },
    );
  });

  test('find no other number that differs by more than 1/4,096', () => {
    const sizes = fc.integer({ min: 1, max: 1_000_000_000 });
    const everyday = fc.oneof(
      sizes,
      sizes.map((cents) => cents / 100),
    );
    fc.assert(
      fc.property(everyday, fc.boolean(), comparisons, (size, isNegative, is) => {
        const than = isNegative ? -size : size;
        const beginnings = codesThatAre(is, than, MAX_BEGINNINGS) ?? [];
        const away = (size / 2 ** 12) * (is.startsWith('>') ? -1.01 : 1.01);
        expect(isFound(than + away, beginnings)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    [30, 100],
    [15, 100],
    [10, 100],
    [5, 96],
    [3, 64],
  ])('when at most %d are allowed for the numbers from 100, find those from %d', (most, least) => {
    const beginnings = codesThatAre('>=', 100, most) ?? [];
    const found = Array.from({ length: 100 }, (_, i) => i + 1).filter((value) => isFound(value, beginnings));
    expect(found[0]).toBe(least);
    expect(beginnings.length).toBeLessThanOrEqual(most);
  });
});
