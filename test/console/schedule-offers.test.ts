import { expect, test } from '@jest/globals';
import { scheduleOffers } from '../../packages/console/src/pages/schedules/offers.ts';

/** The names of the actions, with those that are disabled in parentheses. */
const offered = (schedule: Parameters<typeof scheduleOffers>[0]) =>
  scheduleOffers(schedule).map(({ name, unless }) => (unless === undefined ? name : `(${name})`));

test.each([
  ['stored', 'active', ['Pause', 'Trigger', 'Backfill', 'Change', 'Delete']],
  ['stored', 'paused', ['Resume', 'Trigger', 'Backfill', 'Change', 'Delete']],
  // The API pauses declared schedules too, and keeps the pause over deployments.
  ['declared', 'active', ['Pause', 'Trigger', 'Backfill', '(Change)', '(Delete)']],
  ['declared', 'paused', ['Resume', 'Trigger', 'Backfill', '(Change)', 'Delete']],
  ['declared', 'withdrawn', ['(Pause)', 'Trigger', 'Backfill', '(Change)', 'Delete']],
] as const)('a schedule that is %s and %s offers what the API accepts', (origin, state, names) => {
  expect(offered({ origin, state })).toEqual(names);
});

test('a withdrawn schedule names no declaration at which it could be changed', () => {
  const whys = scheduleOffers({ origin: 'declared', state: 'withdrawn' }).flatMap(
    ({ unless }) => unless ?? [],
  );
  expect(new Set(whys)).toEqual(new Set(['its workflow no longer declares it']));
});
