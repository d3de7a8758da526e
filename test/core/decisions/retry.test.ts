import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  backoffBoundMs,
  DEFAULT_RETRY,
  halfJitterMs,
  MAX_POLLS,
  MIN_POLL_MS,
  nextPoll,
  nextRetry,
  retryPolicy,
} from '../../../packages/cairn/src/core/decisions/retry.ts';
import { parseDuration } from '../../../packages/cairn/src/core/duration.ts';
import { CairnError, Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';

const error = new Error('passing');
const policy = { maxAttempts: 5, initialMs: 100, factor: 2, capMs: 500 };

describe('retry', () => {
  test.each([
    [1, 100],
    [2, 200],
    [3, 400],
    [4, 500],
  ])('after attempt %i the delay is below %i ms', (attempt, bound) => {
    const at = (random: number) => nextRetry({ policy, attempt, random, now: 1_000, error });
    expect(at(0)).toEqual({ kind: 'retry', at: 1_000 });
    expect(at(0.5)).toEqual({ kind: 'retry', at: 1_000 + bound / 2 });
    expect(at(0.999_999)).toEqual({ kind: 'retry', at: 1_000 + bound - 1 });
  });

  test('the last attempt is not repeated, whatever error it threw', () => {
    const last = { policy, attempt: 5, random: 0, now: 0 };
    expect(nextRetry({ ...last, error })).toEqual({ kind: 'give_up', reason: 'attempts_exhausted' });
    expect(nextRetry({ ...last, error: new RetryAt(9) })).toEqual({
      kind: 'give_up',
      reason: 'attempts_exhausted',
    });
    expect(nextRetry({ ...last, attempt: 1, policy: retryPolicy({ maxAttempts: 1 }), error }).kind).toBe(
      'give_up',
    );
  });

  test('Fatal gives up at the first attempt', () => {
    expect(nextRetry({ policy, attempt: 1, random: 0, now: 0, error: new Fatal('no') })).toEqual({
      kind: 'give_up',
      reason: 'fatal',
    });
  });

  test.each([10, 1_000, 9_999_999])(
    'RetryAt sets the time exactly (%i), beyond the cap and without jitter',
    (at) => {
      expect(nextRetry({ policy, attempt: 1, random: 0.7, now: 1_000, error: new RetryAt(at) })).toEqual({
        kind: 'retry',
        at,
      });
    },
  );

  test('the time is never in the past nor beyond the cap, for any policy and attempt', () => {
    const policies = fc.record({
      maxAttempts: fc.constant(1_000_000),
      initialMs: fc.nat(1e9),
      factor: fc.double({ min: 1, max: 1e6, noNaN: true }),
      capMs: fc.nat(1e9),
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 5_000 }), random, (any, attempt, drawn) => {
        const decision = nextRetry({ policy: any, attempt, random: drawn, now: 7, error });
        if (decision.kind !== 'retry') throw new Error('gave up');
        expect(Number.isInteger(decision.at)).toBe(true);
        expect(decision.at).toBeGreaterThanOrEqual(7);
        expect(decision.at).toBeLessThanOrEqual(7 + any.capMs);
        expect(backoffBoundMs(any, attempt + 1)).toBeGreaterThanOrEqual(backoffBoundMs(any, attempt));
      }),
    );
  });

  test.each([
    [1_000, 0, 500],
    [1_000, 0.5, 750],
    [1_000, 0.999, 999.5],
    [0, 0.5, 0],
  ])('at least half of the bound of %d ms is waited: %d gives %d ms', (boundMs, random, expected) => {
    expect(halfJitterMs(boundMs, random)).toBe(expected);
  });

  test('polls are repeated at their requested time, within their timeout and at least a second apart', () => {
    fc.assert(
      fc.property(
        fc.record({ withinMs: fc.nat(1e9), at: fc.nat(2e9), now: fc.nat(2e9), polls: fc.nat(2 * MAX_POLLS) }),
        ({ withinMs, at, now, polls }) => {
          const decision = nextPoll({ poll: { withinMs }, startedAt: 0, now, error: new RetryAt(at), polls });
          const isOver = now >= withinMs || polls + 1 >= MAX_POLLS;
          if (isOver) return expect(decision).toEqual({ kind: 'give_up', reason: 'poll_over' });
          if (decision.kind !== 'poll_again') throw new Error('gave up');
          expect(decision.at).toBeGreaterThanOrEqual(now + MIN_POLL_MS);
          expect(decision.at).toBeLessThanOrEqual(Math.max(now + MIN_POLL_MS, withinMs));
          if (at >= now + MIN_POLL_MS && at <= withinMs) expect(decision.at).toBe(at);
        },
      ),
    );
  });

  test('polls before a failure do not count as attempts', () => {
    const failed = { policy, random: 0.5, now: 0, error };
    expect(nextRetry({ ...failed, attempt: 104, polls: 100 })).toEqual(nextRetry({ ...failed, attempt: 4 }));
    expect(nextRetry({ ...failed, attempt: 105, polls: 100 }).kind).toBe('give_up');
  });

  test('a delay of zero stays zero, even where the growth overflows', () => {
    const none = { maxAttempts: 10_000, initialMs: 0, factor: 1e6, capMs: 500 };
    expect(nextRetry({ policy: none, attempt: 5_000, random: 0.9, now: 7, error })).toEqual({
      kind: 'retry',
      at: 7,
    });
  });

  test('a policy is completed from the defaults', () => {
    expect(retryPolicy()).toEqual(DEFAULT_RETRY);
    expect(retryPolicy({ maxAttempts: 9 })).toEqual({ ...DEFAULT_RETRY, maxAttempts: 9 });
  });

  test.each([
    { maxAttempts: 0 },
    { maxAttempts: 1.5 },
    { initialMs: -1 },
    { factor: 0.5 },
    { factor: Number.NaN },
    { capMs: Number.POSITIVE_INFINITY },
  ])('%p is refused with the name of the member', (wrong) => {
    expect(() => retryPolicy(wrong)).toThrow(`retry.${Object.keys(wrong)[0]}`);
  });
});

describe('duration', () => {
  test.each<[string | number, number]>([
    ['1500ms', 1_500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
    [250, 250],
  ])('%p is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each<[string | number]>([
    [''],
    ['5'],
    ['5 m'],
    ['-5m'],
    ['1.5h'],
    ['5M'],
    ['m'],
    ['1h30m'],
    [' 5m'],
    ['5m\n'],
    ['9999999999999999d'],
    [-1],
    [1.5],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
  ])('%p is refused, naming the field', (text) => {
    expect(() => parseDuration(text, 'timeout')).toThrow(CairnError);
    expect(() => parseDuration(text, 'timeout')).toThrow(/^timeout .* is not a duration$/);
  });
});
