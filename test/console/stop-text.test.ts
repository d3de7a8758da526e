import { expect, test } from '@jest/globals';
import { stopText, stopTexts, stopWord } from '../../packages/console/src/pages/workflows/stop-text.ts';

const since = '2026-01-31T08:00:00.000Z';
const running = { killSwitch: false, items: [{ type: 'order', paused: null }] };

test.each([
  ['nothing is stopped', running, undefined],
  [
    'the workflow is paused',
    { ...running, items: [{ type: 'order', paused: { since, reason: 'the bank is closed' } }] },
    'Workflow order is paused: the bank is closed. Its runs wait until it is unpaused. A new run is accepted and waits.',
  ],
  ['another workflow is paused', { ...running, items: [{ type: 'gift', paused: { since } }] }, undefined],
  [
    'the kill switch is on',
    { ...running, killSwitch: true },
    'The kill switch is on: no run of any tenant moves until it is off. A new run is accepted and waits.',
  ],
  [
    'the database was restored',
    { ...running, restored: true },
    'The database was restored: no run of any tenant moves until it is released. A new run is accepted and waits.',
  ],
])('a form that starts a run says why it would wait: %s', (_, state, text) => {
  expect(stopText(state, 'order')).toBe(text);
});

const paused = (...types: readonly string[]) => ({
  killSwitch: false,
  items: ['order', 'gift'].map((type) => ({ type, paused: types.includes(type) ? { since } : null })),
});

test('a form that starts runs of several workflows gives each reason once', () => {
  const runs = ['order', 'gift', 'order'];
  expect(stopTexts(paused(), runs)).toEqual([]);
  expect(stopTexts(paused('gift'), runs)).toEqual([expect.stringContaining('gift is paused')]);
  expect(stopTexts(paused('gift', 'order'), runs)).toHaveLength(2);
  expect(stopTexts({ ...paused(), killSwitch: true }, runs)).toHaveLength(1);
});

test.each([
  ['nothing is stopped', running, undefined],
  ['the workflow is paused', paused('order'), 'paused'],
  ['another workflow is paused', paused('gift'), undefined],
  ['the kill switch is on', { ...paused('order'), killSwitch: true }, 'kill switch is on'],
  ['the database was restored', { ...running, restored: true }, 'database restored'],
])('a queued run says what it waits for: %s', (_, state, word) => {
  expect(stopWord(state, 'order')).toBe(word);
});
