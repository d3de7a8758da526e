import { expect, test } from '@jest/globals';
import {
  attentionOf,
  type LiveRun,
  suspicionText,
} from '../../packages/console/src/pages/health/live-runs.ts';

const NOW = Date.parse('2026-01-31T08:00:00Z');
const suspect = (alone: boolean, part: Partial<NonNullable<LiveRun['suspect']>> = {}) => ({
  ...{ times: 1, alone, steps: [], deaths: [] },
  ...part,
});

test('a run that is dispatched alone is a suspect, until it is cleared', () => {
  const alone = { id: 'run_a', type: 'order', suspect: suspect(true) };
  const cleared = { id: 'run_b', type: 'order', suspect: suspect(false) };
  expect(attentionOf([cleared, alone, { id: 'run_c', type: 'order' }], NOW).suspects).toEqual([alone]);
});

test('runs are overdue after five minutes without progress, oldest first', () => {
  const due = (id: string, wakeAt: string) => ({ id, type: 'order', wakeAt });
  const { overdue } = attentionOf(
    [
      due('run_new', '2026-01-31T07:54:00Z'),
      due('run_old', '2026-01-30T08:00:00Z'),
      due('run_just', '2026-01-31T07:56:00Z'),
      due('run_later', '2026-02-01T08:00:00Z'),
    ],
    NOW,
  );
  expect(overdue.map(({ id }) => id)).toEqual(['run_old', 'run_new']);
});

test.each([
  [suspect(true, { steps: ['charge'] }), 'once: charge'],
  [suspect(true, { times: 2, deaths: [{ step: 'book', times: 2 }] }), '2 times: book'],
  [suspect(true, { times: 3 }), '3 times'],
])('%j reads %s', (doubt, text) => {
  expect(suspicionText({ id: 'run_a', type: 'order', suspect: doubt })).toBe(text);
});
