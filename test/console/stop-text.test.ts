import { expect, test } from '@jest/globals';
import { stopText } from '../../packages/console/src/pages/workflows/stop-text.ts';

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
