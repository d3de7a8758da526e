import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  checkedTiming,
  newestSlots,
  nextSlot,
  slotsBetween,
  type Timing,
} from '../../../packages/cairn/src/core/schedule/slots.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function slots(cron: string, timezone: string, day: string, days = 1): string[] {
  const from = Date.parse(`${day}T00:00:00Z`);
  return slotsBetween({ cron, timezone }, from - 1, from + days * DAY - 1, 2_000).map((slot) =>
    new Date(slot).toISOString().slice(5, 16),
  );
}

describe('the slots of a cron expression', () => {
  test.each([
    ['every five minutes', '*/5 0 * * *', 'Etc/UTC', '2026-05-01', 1, 12],
    ['every minute', '* * * * *', 'Etc/UTC', '2026-05-01', 1, 1_440],
    ['on weekdays', '0 9 * * MON-FRI', 'Etc/UTC', '2026-05-01', 7, 5],
    ['on a day or a weekday, as cron has it', '0 0 13 * FRI', 'Etc/UTC', '2026-05-01', 31, 6],
  ])('%s', (_, cron, timezone, day, days, count) => {
    expect(slots(cron, timezone, day, days)).toHaveLength(count);
  });

  test.each([
    ['the leap day', '0 0 29 2 *', ['2028-02-29', '2032-02-29']],
    ['months of 31 days', '0 0 31 * *', ['2026-01-31', '2026-03-31', '2026-05-31', '2026-07-31']],
    ['the last day of the month', '0 0 L * *', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['the turn of the year', '0 0 1 1 *', ['2027-01-01', '2028-01-01']],
  ])('include %s', (_, cron, days) => {
    const after = Date.UTC(2026, 0, 1);
    const found = slotsBetween({ cron, timezone: 'Etc/UTC' }, after, Date.UTC(2040, 0, 1), days.length);
    expect(found.map((slot) => new Date(slot).toISOString().slice(0, 10))).toEqual(days);
  });

  test.each([
    [
      'of a time that the day leaves out is where the clocks jump',
      '30 2 * * *',
      '2026-03-29',
      ['03-29T01:00'],
    ],
    ['of a time the day has twice is the first of them', '30 2 * * *', '2026-10-25', ['10-25T00:30']],
    ['of several times is each once', '30 1-3 * * *', '2026-10-25', ['10-25T00:30', '10-25T02:30']],
    ['of every so many minutes is not in an hour that is left out', '*/30 2 * * *', '2026-03-29', []],
    [
      'of every so many minutes is in both of two equal hours',
      '*/30 2 * * *',
      '2026-10-25',
      ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30'],
    ],
  ])('where clocks change, a slot %s', (_, cron, day, expected) => {
    expect(slots(cron, 'Europe/Berlin', day)).toEqual(expected);
  });

  test.each([
    ['45 23 * * *', ['03-28T01:45', '03-29T01:00', '03-30T00:45']],
    ['0 23,0 * * *', ['03-28T01:00', '03-28T02:00', '03-29T01:00', '03-30T00:00', '03-30T01:00']],
    ['0 23 * * SAT', ['03-29T01:00']],
    ['0 23 * * SUN', ['03-30T00:00']],
    ['*/30 23 * * *', ['03-28T01:00', '03-28T01:30', '03-30T00:00', '03-30T00:30']],
  ])('of %s exist where the clock jumps over midnight', (cron, expected) => {
    expect(slots(cron, 'America/Nuuk', '2026-03-28', 3)).toEqual(expected);
  });

  test('follow the time of their zone, in summer and in winter', () => {
    const times = ['2026-01-15', '2026-07-15'].flatMap((day) => slots('0 9 * * *', 'America/New_York', day));
    expect(times).toEqual(['01-15T14:00', '07-15T13:00']);
  });

  test('stay regular where clocks change by half an hour', () => {
    const found = slots('*/15 * * * *', 'Australia/Lord_Howe', '2026-04-04');
    expect(found).toHaveLength(96);
    expect(new Set(found).size).toBe(96);
  });

  test('are after the lower bound and not after the upper bound', () => {
    const timing = { cron: '0 * * * *', timezone: 'Etc/UTC' };
    expect(slotsBetween(timing, 0, HOUR, 10)).toEqual([HOUR]);
    expect(slotsBetween(timing, HOUR, HOUR, 10)).toEqual([]);
    expect(slotsBetween(timing, HOUR - 1, 2 * HOUR - 1, 10)).toEqual([HOUR]);
    expect(slotsBetween(timing, 0, 100 * HOUR, 3)).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
    expect(nextSlot(timing, HOUR)).toBe(2 * HOUR);
  });
});

const cronOf = fc
  .tuple(
    fc.constantFrom('*', '*/5', '*/30', '0', '30', '15,45', '10-20/5'),
    fc.constantFrom('*', '*/2', '2', '0', '1-3', '1,2', '0-23/3'),
    fc.constantFrom('*', '1', 'L', '29', '*/7'),
    fc.constantFrom('*', '3,10', '*/2'),
    fc.constantFrom('*', 'SUN', 'MON-FRI', '6'),
  )
  .map((fields) => fields.join(' '));
const zoneOf = fc.constantFrom(
  'Etc/UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'America/Nuuk',
);
/** Times near clock changes, to the second. */
const momentOf = fc
  .tuple(
    fc.constantFrom(
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-11-01T06:00Z',
      '2026-04-04T15:00Z',
      '2026-06-15T12:00Z',
    ),
    fc.integer({ min: -4 * 3_600, max: 4 * 3_600 }),
  )
  .map(([at, offsetS]) => Date.parse(at) + offsetS * 1_000);

describe('slots of any line', () => {
  test('increase strictly, at full minutes, and do not depend on the start of the search', () => {
    fc.assert(
      fc.property(
        cronOf,
        zoneOf,
        momentOf,
        fc.integer({ min: 0, max: 300 }),
        (cron, timezone, from, minutes) => {
          const timing: Timing = { cron, timezone };
          const until = from + 400 * MINUTE;
          const middle = from + minutes * MINUTE;
          const all = slotsBetween(timing, from, until, 1_000);
          for (const [i, slot] of all.entries()) {
            expect(slot).toBeGreaterThan(all[i - 1] ?? from);
            expect(slot % MINUTE).toBe(0);
          }
          const inTwo = [
            ...slotsBetween(timing, from, middle, 1_000),
            ...slotsBetween(timing, middle, until, 1_000),
          ];
          expect(inTwo).toEqual(all);
          expect(nextSlot(timing, middle)).toBe(slotsBetween(timing, middle, middle + 3_000 * DAY, 1)[0]);
        },
      ),
      { numRuns: 70 },
    );
  });

  test('beyond the limit are the newest ones', () => {
    const lines = fc.constantFrom('* * * * *', '*/5 * * * *', '* 0 * * *', '* 1 3 * *', '0,1,2 */6 * * *');
    fc.assert(
      fc.property(
        lines,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 900 }),
        (cron, limit, minutes) => {
          const timing = { cron, timezone: 'Etc/UTC' };
          const after = Date.UTC(2026, 2, 2, 23);
          const until = after + minutes * MINUTE;
          const all = slotsBetween(timing, after, until, 2_000);
          const { slots: newest, more } = newestSlots(timing, after, until, limit);
          expect(newest.length).toBeLessThanOrEqual(limit);
          expect(newest).toEqual(newest.length === 0 ? [] : all.slice(-newest.length));
          expect(more).toBe(all.length > limit);
          expect(newest).toHaveLength(Math.min(limit, all.length));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('invalid timings', () => {
  test.each([
    ['four fields', '* * * *'],
    ['six fields', '* * * * * *'],
    ['a nickname', '@daily'],
    ['a question mark', '? * * * *'],
    ['nothing', ''],
    ['a minute there is not', '60 * * * *'],
    ['a day there is not', '0 0 32 * *'],
    ['a range that runs back', '5-1 * * * *'],
    ['a step of nothing', '*/0 * * * *'],
    ['words', 'every five minutes or so'],
    ['30 February', '0 0 30 2 *'],
    ['far too much', `${'1,'.repeat(200)}1 * * * *`],
  ])('%s is refused as a cron expression', (_, cron) => {
    expect(() => checkedTiming({ cron, timezone: 'Etc/UTC' })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', field: 'cron' }),
    );
  });

  test.each(['', 'Nowhere/Land', '+01:00', 'Europe/Berlin; DROP', 'X'.repeat(200)])(
    '%j is refused as a time zone',
    (timezone) => {
      expect(() => checkedTiming({ cron: '0 0 * * *', timezone })).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT', field: 'timezone' }),
      );
    },
  );

  test('spaces are normalised', () => {
    expect(checkedTiming({ cron: ' 0\t3  * * *\n', timezone: 'Europe/Berlin' })).toEqual({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
    });
  });
});
