import { expect, test } from '@jest/globals';
import type { RunEvent } from '../../../packages/console/src/pages/run/live/events.ts';
import { stepFeedback } from '../../../packages/console/src/pages/run/live/sent-back.ts';

const event = (seq: number, type: string, data: object, actor?: string) =>
  ({ seq, type, at: `2026-01-01T00:00:0${seq}.000Z`, initiator: 'user', actor, data }) as unknown as RunEvent;
const given = (again: readonly string[], feedback: string) => ({
  waitId: 'w',
  steps: again.slice(0, 1),
  again,
  feedback,
});

const EVENTS = [
  event(1, 'replay_started', {
    mode: 'fork',
    from: 'run_before',
    feedback: [{ steps: ['draft'], text: 'Say when.' }],
  }),
  event(2, 'feedback_given', given(['draft', 'review'], 'Say where.'), 'ada'),
  event(3, 'feedback_given', given(['review'], 'Ask again.'), 'bo'),
  event(4, 'a_type_of_a_later_version', {}),
];

test('a step has each feedback that sent it back, newest first, including carried-over feedback', () => {
  expect(stepFeedback(EVENTS, 'draft')).toEqual([
    { seq: 2, at: '2026-01-01T00:00:02.000Z', feedback: 'Say where.', by: 'ada' },
    { seq: 1, at: '2026-01-01T00:00:01.000Z', feedback: 'Say when.', from: 'run_before' },
  ]);
  expect(stepFeedback(EVENTS, 'review').map(({ by, feedback }) => [by, feedback])).toEqual([
    ['bo', 'Ask again.'],
    ['ada', 'Say where.'],
  ]);
});

test('items are sent back with their step, and other steps have no feedback', () => {
  expect(stepFeedback(EVENTS, 'draft[3]')).toEqual(stepFeedback(EVENTS, 'draft'));
  expect(stepFeedback(EVENTS, 'facts')).toEqual([]);
});
