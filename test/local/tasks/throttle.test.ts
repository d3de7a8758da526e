import { expect, test } from '@jest/globals';
import { generator } from '../../../packages/local-firestore/src/seeded.ts';
import {
  afterOverload,
  isOverload,
  shareAt,
  UNTHROTTLED,
} from '../../../packages/local-tasks/src/throttle.ts';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

test.each(SEEDS)(
  'an overload lowers the share, calm raises it, and it stays within its bounds (seed %i)',
  (seed) => {
    const random = generator(seed);
    let throttle = UNTHROTTLED;
    let now = 1_000_000;
    let share = 1;
    for (let i = 0; i < 300; i++) {
      now += Math.floor(random() * (random() < 0.2 ? 9000 : 1500));
      const calm = shareAt(throttle, now);
      expect(calm).toBeGreaterThanOrEqual(share);
      share = calm;
      if (random() < 0.7) {
        throttle = afterOverload(throttle, now);
        share = shareAt(throttle, now);
        expect(share).toBeLessThanOrEqual(calm);
      }
      expect(share).toBeGreaterThanOrEqual(1 / 64);
      expect(share).toBeLessThanOrEqual(1);
      expect(shareAt(throttle, now + 7_000)).toBe(1);
    }
  },
);

test('the responses of one second slow a queue down once, those of a minute to a 64th', () => {
  let throttle = UNTHROTTLED;
  for (let now = 0; now < 1000; now += 10) throttle = afterOverload(throttle, now);
  expect(shareAt(throttle, 1000)).toBe(1 / 2);
  for (let now = 1000; now < 60_000; now += 10) throttle = afterOverload(throttle, now);
  expect(shareAt(throttle, 60_000)).toBe(1 / 64);
});

test('503 is an overload of every target, 429 of all but App Engine, and nothing else is one', () => {
  for (let status = 100; status < 600; status++) {
    const outcome = { kind: 'answered', status, retryAfter: undefined } as const;
    expect([status, isOverload(outcome, {})]).toEqual([status, status === 429 || status === 503]);
    expect([status, isOverload(outcome, { appEngine: {} })]).toEqual([status, status === 503]);
  }
  expect(isOverload({ kind: 'unreachable', reason: '' }, {})).toBe(false);
});
