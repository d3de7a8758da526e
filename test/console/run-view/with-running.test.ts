import { expect, test } from '@jest/globals';
import type { GraphStepState } from '../../../packages/console/src/pages/run/live/events.ts';
import { withRunning } from '../../../packages/console/src/pages/run/live/with-running.ts';

const since = '2026-01-01T00:00:02.000Z';
const body = { step: 'a', revision: 1, attempt: 2, since };
const known = (state: object | undefined) =>
  new Map(state ? [['a', { key: 'a', seq: 4, revision: 1, ...state } as GraphStepState]] : []);

test.each([
  ['has no known state', undefined, 1],
  ['waits for a retry', { phase: 'retrying', attempt: 1 }, 4],
  ['was sent back', { phase: 'again' }, 4],
  ['ended in its last revision', { phase: 'done', revision: 0 }, 4],
])('a step that %s is shown as running when its body runs', (_what, state, seq) => {
  expect(withRunning(known(state), [body]).get('a')).toEqual({
    key: 'a',
    phase: 'running',
    seq,
    revision: 1,
    attempt: 2,
    startedAt: since,
  });
});

test.each([
  ['has ended', { phase: 'done', outcome: 'succeeded' }],
  ['waits for its next attempt', { phase: 'retrying', attempt: 2 }],
  ['waits for a person', { phase: 'waiting' }],
  ['was sent back', { phase: 'again', revision: 2 }],
])('a step that %s by a newer event keeps that state', (_what, state) => {
  const steps = known(state);
  expect(withRunning(steps, [body])).toBe(steps);
});

test('a step stays done while it is being undone', () => {
  const steps = known({ phase: 'done', outcome: 'succeeded', revision: 0 });
  expect(withRunning(steps, [{ ...body, undoes: true }])).toBe(steps);
});
