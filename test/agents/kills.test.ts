/** The verdict of `npm run agent-kills` about one agent. The command itself needs minutes and real processes. */
import { describe, expect, test } from '@jest/globals';
import { isRight } from '../../scripts/agent-kills/order.ts';

describe('the check of an agent reports', () => {
  test.each([
    ['that acted twice', { status: 'completed', times: 2 }],
    ['that did not act and says that it did', { status: 'completed', times: 0 }],
    ['that acted and failed', { status: 'failed', times: 1 }],
  ])('%s', (_, outcome) => {
    expect(isRight(outcome)).toBe(false);
  });

  test('nothing if it acted once and completed', () => {
    expect(isRight({ status: 'completed', times: 1 })).toBe(true);
  });
});
