import { expect, test } from '@jest/globals';
import type { RunEvent } from '../../../packages/console/src/pages/run/live/events.ts';
import { nearHistory } from '../../../packages/console/src/pages/run/live/near-history.ts';

const AT = '2026-01-02T03:04:05.000Z';

const event = (seq: number, type: string, step: string, attempt = 1) =>
  ({
    ...{ seq, type, at: AT },
    data: { stepId: step, kind: 'step', revision: 1, attempt, startedAt: AT, durationMs: 7 },
  }) as unknown as RunEvent;

const page = [
  event(4901, 'step_succeeded', 'before'),
  event(4902, 'step_started', 'whole'),
  event(4903, 'step_started', 'again', 2),
  event(4904, 'step_succeeded', 'whole'),
  event(4905, 'step_succeeded', 'again', 2),
];

test('the history of a step is read from the events near its last one', () => {
  const { history, isWhole } = nearHistory(page, 'whole');
  expect(history).toMatchObject({ attempts: 1, durationMs: 7, spans: [{ seq: 4902, end: 'succeeded' }] });
  expect(isWhole).toBe(true);
});

test('a short step, whose start is not recorded, is whole if it began within the page', () => {
  const short = { ...event(4906, 'step_succeeded', 'short'), at: '2026-01-02T03:04:09.000Z' };
  Object.assign(short.data, { startedAt: '2026-01-02T03:04:08.000Z' });
  expect(nearHistory([...page, short], 'short')).toMatchObject({
    history: { spans: [{ seq: 4906, end: 'succeeded' }] },
    isWhole: true,
  });
});

test.each([
  ['before', 'whose start is before the page'],
  ['again', 'whose first attempt is before the page'],
])('%s, a step %s, is shown and is not whole', (key) => {
  const { history, isWhole } = nearHistory(page, key);
  expect(history?.spans).toHaveLength(1);
  expect(isWhole).toBe(false);
});

test('a step of which the page has nothing has no history', () => {
  expect(nearHistory(page, 'elsewhere')).toEqual({ history: undefined, isWhole: false });
});
