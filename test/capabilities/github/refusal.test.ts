import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judged } from '../../../packages/cairn/src/capabilities/github/refusal.ts';
import { retryAfter } from '../../../packages/cairn/src/capabilities/retry-after.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;
const inSeconds = (s: number) => NOW + s * 1000;

function judge(status: number, headers: Record<string, string | number> = {}, message = 'no') {
  const error = judged('a comment', { status, headers, message }, NOW);
  if (!(error instanceof NotApplied)) return 'in doubt';
  if (error.retryAt !== undefined) return { retryAt: error.retryAt };
  return error.final ? 'never' : 'try again';
}

const secondary = 'You have exceeded a secondary rate limit. Please wait a few minutes';

test.each([
  [400, {}, 'Problems parsing JSON', 'never'],
  [401, {}, 'Bad credentials', 'never'],
  [403, {}, 'Resource not accessible by integration', 'never'],
  [404, {}, 'Not Found', 'never'],
  [410, {}, 'This issue was deleted', 'never'],
  [413, {}, 'Payload Too Large', 'never'],
  [422, {}, 'Validation Failed', 'never'],
  [451, {}, 'Repository access blocked', 'never'],
  [409, {}, 'Conflict', 'try again'],
  [408, {}, 'Request Timeout', 'in doubt'],
  [500, {}, 'Server Error', 'in doubt'],
  [502, {}, 'Bad Gateway', 'in doubt'],
  [503, { 'retry-after': '5' }, 'Service Unavailable', 'in doubt'],
  [504, {}, 'Gateway Timeout', 'in doubt'],
  [403, { 'retry-after': '60' }, secondary, { retryAt: inSeconds(60) }],
  [429, { 'retry-after': '7' }, 'Too Many Requests', { retryAt: inSeconds(7) }],
  [429, { 'retry-after': new Date(inSeconds(90)).toUTCString() }, '', { retryAt: inSeconds(90) }],
  [403, { 'retry-after': '0' }, '', { retryAt: NOW }],
  [
    403,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': NOW / 1000 + 600 },
    'API rate limit exceeded',
    { retryAt: inSeconds(601) },
  ],
  [403, { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': NOW / 1000 + 600 }, 'Forbidden', 'never'],
  [429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': NOW / 1000 - 600 }, '', { retryAt: NOW }],
  [403, {}, secondary, { retryAt: inSeconds(60) }],
  [403, {}, 'You have triggered an abuse detection mechanism', { retryAt: inSeconds(60) }],
  [429, {}, '', { retryAt: inSeconds(60) }],
  [429, { 'retry-after': 'soon' }, '', { retryAt: inSeconds(60) }],
  [429, { 'retry-after': '99999999' }, '', { retryAt: NOW + DAY_MS }],
])('an answer %i with %j ("%s") means: %j', (status, headers, message, meaning) => {
  expect(judge(status, headers as Record<string, string | number>, message)).toEqual(meaning);
});

test('no failure of the server is taken for a refusal', () => {
  const headers = fc.dictionary(
    fc.constantFrom('retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'),
    fc.oneof(fc.constant('0'), fc.integer().map(String), fc.string()),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.integer({ min: 500, max: 599 }), headers, fc.string(), (status, given, message) => {
      expect(judge(status, given, message)).toBe('in doubt');
    }),
  );
});

test('only a number of seconds or a date sets a time', () => {
  const number = fc.oneof(
    fc.integer({ min: -9_999, max: -1 }).map(String),
    fc.nat(9_999).map((seconds) => `+${seconds}`),
    fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => parts.join('.')),
    fc.nat(9_999).map((seconds) => `${seconds}s`),
    fc.nat(9_999).map((seconds) => `${seconds}e3`),
    fc.constantFrom('soon', '', '0x10', '2015-10-21', '1/2', 'May 5'),
  );
  fc.assert(fc.property(number, (text) => expect(retryAfter(text, NOW)).toBeUndefined()));
  fc.assert(
    fc.property(fc.nat(80_000), fc.nat(999), (seconds, ms) => {
      const fraction = `${seconds}.${String(ms).padStart(3, '0')}`;
      const at = retryAfter(fraction, NOW) ?? 0;
      expect(Math.abs(at - (NOW + seconds * 1_000 + ms))).toBeLessThanOrEqual(1);
      const date = new Date(NOW + seconds * 1_000).toUTCString();
      expect(retryAfter(date, NOW)).toBe(Math.max(NOW, Date.parse(date)));
    }),
  );
});

test('any retry time of a receiver is between now and a day ahead, or is ignored', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.nat().map(String), fc.date().map(String)), (text) => {
      const at = retryAfter(text, NOW);
      if (at === undefined) return;
      expect(at).toBeGreaterThanOrEqual(NOW);
      expect(at).toBeLessThanOrEqual(NOW + DAY_MS);
    }),
  );
});
