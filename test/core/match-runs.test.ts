import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isMatch, matchOf } from '../../packages/cairn/src/core/search/match.ts';
import { entriesFor, storedNames } from '../../packages/cairn/src/core/search/match-index.ts';
import { RUN_ORDERS, sortedBy } from '../../packages/cairn/src/core/search/order.ts';

const run = {
  id: 'run_abc123',
  trigger: { source: 'api', webhookEventId: '5e6f1d50' },
  idempotencyKey: 'api:c.ci:build:7',
  threadId: 'Invoice-9',
  traceId: 'trace-1',
  tags: ['customer:42', 'amount:250', 'due:2026-02-10', 'name:Ada: the first'],
} as const;

describe('a run matches', () => {
  test.each([
    ['amount>100', true],
    ['amount > 249.5', true],
    ['amount>250', false],
    ['amount>=250', true],
    ['amount<1e3', true],
    ['amount<=9', false],
    ['amount>abc', false],
    ['customer>9', true],
    ['due>2026-02-09', true],
    ['due<=2026-02-10', true],
    ['due<2026', false],
    ['absent>0', false],
    ['name>A', true],
    ['run_abc', true],
    ['RUN_ABC*', true],
    ['customer:4*', true],
    ['customer:5*', false],
    ['ada', true],
    ['invoice-', true],
    ['build:7', true],
    ['api:c.ci', true],
    ['5e6f', true],
    ['bc123', false],
    ['voice', false],
  ])('%s: %s', (text, expected) => {
    expect(isMatch(run, matchOf(text))).toBe(expected);
  });

  test.each(['', ' ', '*', 'amount>', 'amount >= ', 'a*b', 'x'.repeat(376)])(
    'but not by %j, which is refused with advice',
    (text) => {
      expect(() => matchOf(text)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT', field: 'match', help: expect.anything() }),
      );
    },
  );

  const integers = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const near = fc
    .tuple(integers, fc.bigInt({ min: -2n, max: 2n }))
    .map(([a, more]) => [a, a + more] as const);
  const signs = { '>': (a: bigint, b: bigint) => a > b, '>=': (a: bigint, b: bigint) => a >= b };

  test('by integers to their last digit, even beyond 2^53, in the index too', () => {
    fc.assert(
      fc.property(
        near,
        fc.constantFrom('>', '>=', '<', '<='),
        fc.integer({ min: 1, max: 30 }),
        ([a, b], is, most) => {
          const one = { ...run, tags: [`id:${a}`] };
          const isLess = is.startsWith('<');
          const compare = signs[is.replace('<', '>') as keyof typeof signs];
          const match = matchOf(`id${is}${b}`);
          const expected = isLess ? compare(b, a) : compare(a, b);
          expect(isMatch(one, match)).toBe(expected);
          const entries = entriesFor(match, most);
          if (entries && expected)
            expect(entries.some((entry) => storedNames(one).includes(entry))).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('by each prefix of each of its tags, in any case', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z][a-z0-9_.-]{0,20}$/),
        fc.stringMatching(/^[^*<>\s]{1,20}$/),
        fc.nat(),
        (name, value, cut) => {
          const tag = `${name}:${value}`;
          const beginning = tag.slice(0, 1 + (cut % tag.length));
          const tagged = { ...run, tags: [tag] };
          expect(isMatch(tagged, matchOf(`${beginning}*`))).toBe(true);
          expect(isMatch(tagged, matchOf(beginning.toUpperCase()))).toBe(
            tag.toLowerCase().startsWith(beginning.toUpperCase().toLowerCase()),
          );
        },
      ),
    );
  });
});

describe('runs are sorted', () => {
  const runs = [
    { state: { id: 'a', createdAt: 10, updatedAt: 90, durationMs: 5 } },
    { state: { id: 'b', createdAt: 20, updatedAt: 30, durationMs: 60 } },
    { state: { id: 'c', createdAt: 30, updatedAt: 95 } },
    { state: { id: 'd', createdAt: 30, updatedAt: 95 } },
  ];
  test.each([
    ['oldest', ['a', 'b', 'd', 'c']],
    // A live run has lasted from its creation until now.
    ['longest', ['d', 'c', 'b', 'a']],
    ['updated', ['d', 'c', 'a', 'b']],
  ] as const)('%s first, and by descending id where they are equal, as in an index', (order, ids) => {
    expect(sortedBy(order, runs.toReversed(), 100).map(({ state }) => state.id)).toEqual(ids);
  });

  test('into one order, independent of the order of reading', () => {
    const one = fc.record({
      id: fc.string({ minLength: 1, maxLength: 3 }),
      createdAt: fc.nat(5),
      updatedAt: fc.nat(5),
      durationMs: fc.option(fc.nat(5), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(one, { selector: ({ id }) => id }),
        fc.constantFrom(...RUN_ORDERS),
        (states, order) => {
          const runs = states.map((state) => ({ state })) as never[];
          expect(sortedBy(order, runs.toReversed(), 9)).toEqual(sortedBy(order, runs, 9));
        },
      ),
    );
  });
});
