import { describe, expect, test } from '@jest/globals';
import { briefly, exactly, relative, soFar, tookText } from '../../../packages/console/src/parts/time.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const S = 1_000;
const M = 60 * S;
const H = 60 * M;

describe('how long ago it was', () => {
  test.each([
    [-400, 'now'],
    [-2_300, '2s ago'],
    [59 * S, 'in 59s'],
    [-(16 * M + 10 * S), '16m ago'],
    [-(3 * H + 5 * M), '3h 5m ago'],
    [30 * H, 'in 1d 6h'],
  ])('%d ms: %s', (away, expected) => {
    expect(relative(new Date(NOW + away).toISOString(), NOW)).toBe(expected);
  });

  test('is shown unchanged if it is not a time', () => {
    expect(relative('soon', NOW)).toBe('soon');
    expect(exactly('soon')).toBe('soon');
  });

  test('is never negative, even for a clock that is ahead', () => {
    expect(soFar(-5 * S)).toBe('0s so far');
  });
});

describe('what a run took', () => {
  const at = (ms: number) => new Date(NOW + ms).toISOString();
  const created = { status: 'running', createdAt: at(-3 * H) };
  test.each([
    ['one that has ended', { status: 'failed', startedAt: at(-2 * H), durationMs: 90 * S }, '1m 30s'],
    ['one that goes on', { startedAt: at(-2 * H - 5 * S) }, '2h so far'],
    ['one that waits', { status: 'waiting_external', startedAt: at(-61 * S) }, '1m so far'],
    ['one that has not begun', { status: 'pending' }, '3h so far'],
    ['one that has ended without a duration', { status: 'cancelled' }, undefined],
  ])('%s', (_, run, expected) => expect(tookText({ ...created, ...run }, NOW)).toBe(expected));
});

test('a time is shown with its day and its time zone', () => {
  expect(exactly('2026-11-22T23:34:07.000Z', 'Europe/Berlin')).toBe('Mon 23 Nov 2026, 00:34:07 CET');
  expect(exactly('2026-07-01T00:00:00.000Z', 'UTC')).toBe('Wed 1 Jul 2026, 00:00:00 UTC');
  expect(briefly('2026-11-22T11:34:07.000Z', NOW, 'UTC')).toBe('22 Nov, 11:34:07 UTC');
  expect(briefly('2025-11-22T11:34:07.000Z', NOW, 'UTC')).toBe('22 Nov 2025, 11:34:07 UTC');
  expect(briefly('soon', NOW)).toBe('soon');
});
