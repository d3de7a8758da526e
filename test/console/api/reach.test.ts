import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { offsetMs } from '../../../packages/client/src/server-clock.ts';
import { Reach } from '../../../packages/console/src/api/reach.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
const header = (ms: number) => new Date(ms).toUTCString();

describe('the clock of the API', () => {
  test('equals the local clock within the precision of the header', () => {
    const times = fc.record({
      at: fc.integer({ min: 0, max: 10_000 }),
      trip: fc.integer({ min: 0, max: 5_000 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(times, ({ at, trip, part }) => {
        const sentAt = AT + at;
        expect(offsetMs(header(sentAt + trip * part), sentAt, sentAt + trip)).toBe(0);
      }),
    );
  });

  test('is estimated within the precision of the header and half the round trip', () => {
    const times = fc.record({
      off: fc.integer({ min: 10_000, max: 86_400_000 }),
      sign: fc.constantFrom(1, -1),
      trip: fc.integer({ min: 0, max: 5_000 }),
    });
    fc.assert(
      fc.property(times, ({ off, sign, trip }) => {
        const found = offsetMs(header(AT + off * sign + trip / 2), AT, AT + trip) ?? 0;
        expect(Math.abs(found - off * sign)).toBeLessThanOrEqual(1_000 + trip / 2);
      }),
    );
  });

  test.each([
    ['no header', null, AT],
    ['a header that is no time', 'soon', AT],
    ['an answer that took long', header(AT), AT + 60_000],
    ['a clock that was set back meanwhile', header(AT), AT - 1],
  ])('is not told by %s', (_, date, answeredAt) => {
    expect(offsetMs(date, AT, answeredAt)).toBeUndefined();
  });
});

test('the API counts as unreachable from the first failed request to the next successful one, and notifies once per change', () => {
  const reach = new Reach();
  const received: (number | undefined)[] = [];
  reach.subscribe(() => received.push(reach.shown().lostAt));
  reach.answered(header(AT), AT, AT);
  reach.lost(AT + 1);
  reach.lost(AT + 2);
  reach.answered(null, AT + 3, AT + 4);
  reach.answered(null, AT + 5, AT + 6);
  expect(received).toEqual([AT + 1, undefined]);
});
