import { expect, test } from '@jest/globals';
import { dayResumption } from '../../packages/client/src/explain/day-end.ts';

test.each<[data: Parameters<typeof dayResumption>[0], actor: string | undefined, why: string | undefined]>([
  [{ waitId: 'ask.1.2.day' }, undefined, 'the day of the budget has ended'],
  [{ waitId: 'ask.1.2.day' }, 'c.ada', 'the budget of the day was raised'],
  [{ waitId: 'ask.1.2.day', decision: 'approve' }, 'c.ada', undefined],
  [{ waitId: 'ask.1.2.budget', decision: 'approve' }, 'c.ada', undefined],
  [{ waitId: 'sleep.1' }, undefined, undefined],
])('the resumption by %j of %s', (data, actor, why) => {
  expect(dayResumption(data, actor)).toBe(why);
});
