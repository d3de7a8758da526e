import { describe, expect, test } from '@jest/globals';
import { cronHint, cronWords } from '../../packages/console/src/parts/cron/words.ts';

describe('a cron expression in words', () => {
  test.each([
    ['0 9 * * *', 'Every day at 09:00'],
    [' 30  3 * * * ', 'Every day at 03:30'],
    ['0 0,12 * * *', 'Every day at 00:00 and 12:00'],
    ['*/15 * * * *', 'Every 15 minutes'],
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday'],
    ['5 4 * * sun', 'At 04:05, only on Sunday'],
    ['0 0 1 * *', 'At 00:00, on day 1 of the month'],
    ['59 23 31 12 *', 'At 23:59, on day 31 of the month, only in December'],
  ])('%s', (line, words) => {
    expect(cronWords(line)).toBe(words);
  });

  test.each([
    ['a day of the month or of the week, which the words would make "and"', '0 9 1 * 1'],
    ['no line', 'every morning'],
    ['seconds, which schedules have none of', '0 0 9 * * *'],
    ['a name', '@daily'],
    ['what is out of range', '99 9 * * *'],
    ['nothing', ''],
  ])('is none for %s', (_, line) => {
    expect(cronWords(line)).toBeUndefined();
  });
});

describe('the hint below a cron expression', () => {
  test.each([
    ['*/15 * * * *', 'Every 15 minutes'],
    ['0 9 1 * 1', 'The API checks this expression.'],
    ['0 25 * * *', 'The hour must be from 0 to 23.'],
    ['99 9 1 * 1', 'The minute must be from 0 to 59.'],
    ['0 9 32 * *', 'The day of the month must be from 1 to 31.'],
    ['0 9 * 13 *', 'The month must be from 1 to 12.'],
    ['0 9 * * 8', 'The weekday must be from 0 to 6.'],
    ['0 9 * FOO *', 'The API checks this expression.'],
    ['*/5 * * *', 'This expression has 4 fields, not 5.'],
    ['@daily', 'This expression has 1 field, not 5.'],
    [' 0 0 9 * * * ', 'This expression has 6 fields, not 5.'],
    ['  ', 'Give the five fields, for example 0 9 * * MON-FRI.'],
  ])('%j', (line, hint) => {
    expect(cronHint(line)).toBe(hint);
  });
});
