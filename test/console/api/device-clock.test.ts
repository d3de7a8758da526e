import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { deviceNow, lastTick, onTick } from '../../../packages/console/src/api/device-clock.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a page that shows times again after minutes without any starts from the current time', () => {
  onTick(() => {})();
  jest.advanceTimersByTime(300_000);
  expect(lastTick()).toBe(deviceNow());
  const end = onTick(() => {});
  expect(lastTick()).toBe(deviceNow());
  end();
});

test('the time changes only at a tick, and each tick notifies every listener', () => {
  const told: string[] = [];
  const ends = [onTick(() => told.push('a')), onTick(() => told.push('b'))];
  jest.advanceTimersByTime(1_000);
  const ticked = lastTick();
  jest.advanceTimersByTime(900);
  expect(lastTick()).toBe(ticked);
  jest.advanceTimersByTime(100);
  expect(told).toEqual(['a', 'b', 'a', 'b']);
  expect(lastTick()).toBe(ticked + 1_000);
  for (const end of ends) end();
});
