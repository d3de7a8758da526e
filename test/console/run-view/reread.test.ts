import { expect, test } from '@jest/globals';
import { rereadMs } from '../../../packages/console/src/pages/run/live/reread.ts';

const END = Date.parse('2026-01-01T00:00:00Z');
const ended = { status: 'completed', completedAt: '2026-01-01T00:00:00Z', running: [] };
const lease = { owner: 'w1', expiresAt: '2026-01-01T00:00:00Z' };

test.each([
  ['has just ended', ended, END + 1_000, 1_000],
  ['ended six seconds ago', ended, END + 6_000, false],
  ['ended, by a clock that is an hour behind', ended, END - 3_600_000, false],
  ['has a worker and names no body', { status: 'running', lease, running: [] }, END, 900],
  ['has a worker and names a body', { status: 'running', lease, running: [{}] }, END, 10_000],
  ['reports progress', { status: 'running', lease, running: [{}], progress: {} }, END, 3_000],
])('a run that %s is reread after the right time', (_, run, now, ms) => {
  expect(rereadMs(run as never, now)).toBe(ms);
});
