import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterFailure, backoffMs } from '../../../packages/local-tasks/src/dispatch/retry.ts';
import { DueHeap } from '../../../packages/local-tasks/src/due-heap.ts';
import { DEFAULT_RETRY } from '../../../packages/local-tasks/src/model.ts';
import { TokenBucket } from '../../../packages/local-tasks/src/token-bucket.ts';

describe('backoff', () => {
  const config = { ...DEFAULT_RETRY, minBackoffMs: 10_000, maxBackoffMs: 300_000, maxDoublings: 3 };

  test("follows the reference's own example", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => backoffMs(config, attempts) / 1000);
    expect(pauses).toEqual([10, 20, 40, 80, 160, 240, 300, 300]);
  });

  test('of 0 stays 0 after any number of doublings', () => {
    expect(backoffMs({ ...config, minBackoffMs: 0, maxDoublings: 3_000 }, 2_000)).toBe(0);
    expect(backoffMs({ ...config, maxDoublings: 3_000 }, 2_000)).toBe(config.maxBackoffMs);
  });

  test('never shrinks and never exceeds its maximum', () => {
    const configs = fc.record({
      minBackoffMs: fc.integer({ min: 0, max: 10_000 }),
      maxBackoffMs: fc.integer({ min: 10_000, max: 3_600_000 }),
      maxDoublings: fc.integer({ min: 0, max: 3_000 }),
    });
    fc.assert(
      fc.property(configs, fc.integer({ min: 1, max: 3_000 }), (overrides, attempts) => {
        const some = { ...DEFAULT_RETRY, ...overrides };
        const pause = backoffMs(some, attempts);
        expect(pause).toBeLessThanOrEqual(some.maxBackoffMs);
        expect(backoffMs(some, attempts + 1)).toBeGreaterThanOrEqual(pause);
      }),
    );
  });
});

describe('giving up', () => {
  test.each([
    ['no limit', { maxAttempts: -1, maxRetryDurationMs: 0 }, 1000, 10 ** 9, 'retry'],
    ['attempts left', { maxAttempts: 3, maxRetryDurationMs: 0 }, 2, 10 ** 9, 'retry'],
    ['attempts spent', { maxAttempts: 3, maxRetryDurationMs: 0 }, 3, 0, 'give-up'],
    ['attempts spent, time left', { maxAttempts: 3, maxRetryDurationMs: 5000 }, 3, 4999, 'retry'],
    ['time spent, attempts left', { maxAttempts: 3, maxRetryDurationMs: 5000 }, 2, 5000, 'retry'],
    ['both spent', { maxAttempts: 3, maxRetryDurationMs: 5000 }, 3, 5000, 'give-up'],
    ['only time limited, time spent', { maxAttempts: -1, maxRetryDurationMs: 5000 }, 1, 5000, 'give-up'],
  ])('%s', (_what, limits, attempts, elapsed, decision) => {
    const failed = {
      attempts,
      firstAttemptAt: 0,
      now: elapsed,
      pauseFrom: elapsed,
      retryAfterMs: undefined,
    };
    expect(afterFailure({ ...DEFAULT_RETRY, ...limits }, failed).kind).toBe(decision);
  });
});

test('the heap returns items by due time, ties in order of arrival', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const heap = new DueHeap<{ dueAt: number; order: number }>();
      const items = times.map((dueAt, order) => ({ dueAt, order }));
      for (const item of items) heap.push(item);
      const out = [];
      for (let item = heap.pop(); item; item = heap.pop()) out.push(item);
      expect(out).toEqual(items.toSorted((a, b) => a.dueAt - b.dueAt || a.order - b.order));
    }),
  );
});

test('over any interval a bucket grants at most its burst plus its refill', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 });
  fc.assert(
    fc.property(
      gaps,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      (pauses, rate, burst) => {
        const bucket = new TokenBucket(rate, burst, 0);
        let now = 0;
        let taken = 0;
        for (const pause of pauses) {
          now += pause;
          const answer = bucket.take(now);
          if (answer.taken) taken++;
          else expect(answer.atMs).toBeGreaterThan(now);
        }
        expect(taken).toBeLessThanOrEqual(burst + (now / 1000) * rate + 1e-6);
      },
    ),
  );
});
