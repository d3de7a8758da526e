import { expect, test } from '@jest/globals';
import type { RunEvent } from '../../../packages/console/src/pages/run/live/events.ts';
import { nearHistory } from '../../../packages/console/src/pages/run/live/near-history.ts';

/** The time of an event, with one event a second. */
const at = (seq: number) => new Date(1_767_000_000_000 + seq * 1_000).toISOString();

/** @param began seq at which the first attempt began */
const event = (seq: number, type: string, step: string, attempt = 1, began = seq) => {
  const execution = {
    ...{ stepId: step, kind: 'step', revision: 1, attempt, startedAt: at(began) },
    durationMs: 7,
  };
  const data = type === 'wait_opened' ? { wait: { id: `${step}.1`, execution } } : execution;
  return { ...{ seq, type, at: at(seq) }, data } as unknown as RunEvent;
};

const page = [
  event(4901, 'step_succeeded', 'before', 1, 4700),
  event(4902, 'step_started', 'whole'),
  event(4903, 'step_started', 'again', 2, 4700),
  event(4904, 'step_succeeded', 'whole', 1, 4902),
  event(4905, 'step_succeeded', 'again', 2, 4700),
  event(4906, 'wait_opened', 'asks', 1, 4700),
  event(4907, 'step_started', 'interrupted', 1, 4700),
];

test('the history of a step is read from the events near its last one', () => {
  const { history, isWhole } = nearHistory(page, 'whole');
  expect(history).toMatchObject({ attempts: 1, durationMs: 7, spans: [{ seq: 4902, end: 'succeeded' }] });
  expect(isWhole).toBe(true);
});

test('a short step, whose start is not recorded, is whole if it began within the page', () => {
  const short = event(4910, 'step_succeeded', 'short', 1, 4909);
  expect(nearHistory([...page, short], 'short')).toMatchObject({
    history: { spans: [{ seq: 4910, end: 'succeeded' }] },
    isWhole: true,
  });
});

test.each([
  ['before', 'whose start is before the page'],
  ['again', 'whose first attempt is before the page'],
  ['asks', 'whose body began before the page and asks within it'],
  ['interrupted', 'whose attempt was interrupted before the page and began again'],
])('%s, a step %s, is shown and is not whole', (key) => {
  const { history, isWhole } = nearHistory(page, key);
  expect(history?.spans).toHaveLength(1);
  expect(isWhole).toBe(false);
});

test('a step without an event on the page has no history', () => {
  expect(nearHistory(page, 'elsewhere')).toEqual({ history: undefined, isWhole: false });
});
