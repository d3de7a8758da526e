import { expect, test } from '@jest/globals';
import { budgetLines } from '../../packages/client/src/explain/budget-lines.ts';

test('each limit has a line with what is spent and reserved of it', () => {
  expect(
    budgetLines({
      limits: { usd: 5, tokens: 1_000, effects: 3, wallClockMs: 7_200_000 },
      spent: { usd: 0.1 + 0.2, tokens: 0 },
      reserved: { usd: 0.5, tokens: 0 },
      askedMs: 0,
    }),
  ).toEqual(['0.3 of 5 USD, 0.5 more reserved', '0 of 1000 tokens', '0 of 3 effects', 'at most 2 h']);
});

test('an amount without a limit has no line', () => {
  expect(
    budgetLines({ limits: { operations: 10 }, spent: { usd: 1, operations: 4 }, reserved: {}, askedMs: 0 }),
  ).toEqual(['4 of 10 operations']);
});
