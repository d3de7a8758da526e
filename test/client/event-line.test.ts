import { expect, test } from '@jest/globals';
import { eventLine } from '../../packages/client/src/event-line/event-line.ts';

const formats = { duration: (ms: number) => `${ms} ms`, moment: (at: string) => at };

test.each([
  [{ microUsd: 2_500_000, tokens: 100 }, 'budget raised by 2.5 USD, 100 tokens'],
  [{ microUsd: 1_000, wallClockMs: 60_000 }, 'budget raised by 0.001 USD, 60000 ms'],
])('an approval that raises the budget shows the exact amount: %j', (raise, more) => {
  const data = { waitId: 'budget', decision: 'approve' as const, raise };
  const event = { type: 'wait_resolved' as const, data, at: '2026-01-01T00:00:00.000Z', actor: 'ann' };
  expect(eventLine(event as Parameters<typeof eventLine>[0], formats)).toMatchObject({ more });
});
