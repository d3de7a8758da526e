import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { durationText, exactDurationText, parseDuration } from '../../packages/cairn/src/core/duration.ts';

describe('the text of a duration', () => {
  test.each([
    [14 * 86_400_000, '14d'],
    [3_600_000, '1h'],
    [5_400_000, '1h 30m'],
    [1_500, '1s 500ms'],
    [300, '300ms'],
    [0, '0ms'],
    [90_061_001, '1d 1h'],
    [86_400_005, '1d'],
    [3_600_500, '1h'],
    [3_661_000, '1h 1m'],
  ])('%d ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  test('differs by less than its smallest unit', () => {
    for (let ms = 1; ms < 40 * 86_400_000; ms = ms * 3 + 7) {
      const parts = durationText(ms).split(' ');
      const said = parts.reduce((sum, part) => sum + parseDuration(part), 0);
      const smallest = parseDuration(`1${parts.at(-1)?.replace(/\d+/, '')}`);
      expect([ms, ms - said >= 0, ms - said < smallest]).toEqual([ms, true, true]);
    }
  });

  test('is exact for comparisons', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 * 86_400_000 }), (ms) => {
        const parts = exactDurationText(ms).split(' ');
        expect(parts.reduce((sum, part) => sum + parseDuration(part), 0)).toBe(ms);
      }),
    );
  });
});
