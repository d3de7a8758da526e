import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Scale, ticksOf, tickText } from '../../../packages/console/src/pages/run/timeline/scale.ts';

const HOUR = 3_600_000;
const busyTimes = fc
  .array(fc.tuple(fc.nat({ max: 20 * HOUR }), fc.nat({ max: 60_000 })), { maxLength: 12 })
  .map((list) => list.map(([from, length]) => ({ from, to: from + length })));

describe('time on a scale', () => {
  test('is ordered and fills the width, whatever is compressed', () => {
    fc.assert(
      fc.property(
        busyTimes,
        fc.nat({ max: 24 * HOUR }),
        fc.array(fc.nat({ max: 24 * HOUR })),
        (busy, to, times) => {
          const scale = new Scale({ from: 0, to }, busy);
          expect(scale.at(0)).toBe(0);
          expect(scale.at(Math.max(1, to))).toBeCloseTo(1);
          const places = times.sort((a, b) => a - b).map((at) => scale.at(at));
          for (const [at, place] of places.entries()) {
            expect(place).toBeGreaterThanOrEqual(places[at - 1] ?? 0);
            expect(place).toBeLessThanOrEqual(1.000_001);
          }
        },
      ),
    );
  });

  test('gives seconds of work beside hours of waiting most of the width', () => {
    const scale = new Scale({ from: 0, to: 10 * HOUR + 8_000 }, [
      { from: 0, to: 5_000 },
      { from: 10 * HOUR, to: 10 * HOUR + 8_000 },
    ]);
    expect(scale.at(5_000)).toBeGreaterThan(0.3);
    expect(scale.at(10 * HOUR) - scale.at(5_000)).toBeLessThan(0.1);
    expect(scale.segments.map(({ isGap }) => isGap)).toEqual([false, true, false]);
  });

  test('compresses nothing if no busy time is known', () => {
    expect(new Scale({ from: 0, to: HOUR }, []).segments).toHaveLength(1);
  });

  test('has axis labels at round intervals, without overlaps or labels in gaps', () => {
    fc.assert(
      fc.property(busyTimes, fc.integer({ min: 1, max: 24 * HOUR }), (busy, to) => {
        const scale = new Scale({ from: 0, to }, busy);
        const ticks = ticksOf(scale, 0, 0.1);
        for (const [at, tick] of ticks.entries()) {
          expect(tick.place - (ticks[at - 1]?.place ?? -1)).toBeGreaterThanOrEqual(0.1 - 1e-9);
          expect(scale.at(tick.at)).toBeCloseTo(tick.place, 5);
          expect(tick.place).toBeLessThanOrEqual(0.95 + 1e-9);
        }
        const labels = ticks.map(({ at, step }) => tickText(at, step));
        expect(labels).toEqual([...new Set(labels)]);
        expect(ticks.length).toBeLessThanOrEqual(11);
      }),
    );
  });

  test.each([
    [0, 10, '0ms'],
    [2_460, 20, '2.46s'],
    [2_500, 500, '2.5s'],
    [10_500, 500, '10.5s'],
    [30_000, 10_000, '30s'],
    [60_500, 500, '1m 0.5s'],
    [3_630_000, 30_000, '1h 0m 30s'],
    [90_060_000, 60_000, '1d 1h 1m'],
    [7_200_000, 3_600_000, '2h'],
  ])('%i ms, %i ms from the next, is %s', (ms, step, label) => {
    expect(tickText(ms, step)).toBe(label);
  });
});
