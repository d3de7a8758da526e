import { describe, expect, test } from '@jest/globals';
import { AT_ONCE, type Sent, sendAll } from '../../packages/client/src/index.ts';
import { ApiError, refusalOf } from '../../packages/console/src/api/problem.ts';

const refusal = (status: number, retryAfterMs?: number) =>
  new ApiError({ status, code: 'X', title: 'x', detail: '', retryAfterMs });

function board(stop = new AbortController()) {
  const last = new Map<number, Sent<number>>();
  const pauses: (number | undefined)[] = [];
  return {
    last,
    pauses,
    stop,
    running: {
      onSent: (item: number, sent: Sent<number>) => void last.set(item, sent),
      onPause: (ms: number | undefined) => void pauses.push(ms),
      refusalOf,
      signal: stop.signal,
    },
  };
}
const items = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('many requests', () => {
  test('are sent a few at a time, each once, and each outcome is reported', async () => {
    const { last, running } = board();
    let underWay = 0;
    let most = 0;
    const sent: number[] = [];
    await sendAll(items(30), {
      ...running,
      work: async (item) => {
        sent.push(item);
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        if (item % 7 === 0) throw refusal(409);
        return item * 2;
      },
    });
    expect(most).toBe(AT_ONCE);
    expect(sent.sort((a, b) => a - b)).toEqual(items(30));
    expect(last.get(7)).toMatchObject({ at: 'failed' });
    expect(last.get(8)).toEqual({ at: 'done', answer: 16 });
    expect(last.size).toBe(30);
  });

  test('all pause when one is rate limited, and then continue with the same request', async () => {
    const { last, pauses, running } = board();
    const refused = new Set([3, 4, 5]);
    let isPaused = false;
    await sendAll(items(12), {
      ...running,
      sleep: async (ms) => {
        isPaused = true;
        expect(ms).toBe(7_000);
        await new Promise(setImmediate);
        isPaused = false;
      },
      work: async (item) => {
        expect(isPaused).toBe(false);
        if (refused.delete(item)) throw refusal(429, 7_000);
        return item;
      },
    });
    expect(pauses.filter((ms) => ms !== undefined)).not.toEqual([]);
    expect(pauses.at(-1)).toBeUndefined();
    expect([...last.values()].every(({ at }) => at === 'done')).toBe(true);
  });

  test('a permanently refused request is not repeated', async () => {
    const { last, running } = board();
    await sendAll([1], { ...running, sleep: async () => {}, work: () => Promise.reject(refusal(429)) });
    expect(last.get(1)).toMatchObject({ at: 'failed' });
  });

  test('after a stop no more are sent, and outcomes of requests in progress are reported', async () => {
    const { last, stop, running } = board();
    await sendAll(items(20), {
      ...running,
      work: async (item) => {
        if (item === 5) stop.abort();
        await new Promise(setImmediate);
        return item;
      },
    });
    const done = [...last].filter(([, { at }]) => at === 'done').map(([item]) => item);
    expect(done).toContain(5);
    expect(done.length).toBeLessThan(5 + AT_ONCE + 1);
    expect([...last.values()].some(({ at }) => at === 'sending')).toBe(false);
  });

  test('a stop during a pause takes effect at once', async () => {
    const stop = new AbortController();
    const { running } = board(stop);
    const work = async () => {
      setImmediate(() => stop.abort());
      throw refusal(429, 3_600_000);
    };
    await sendAll([1, 2], { ...running, work });
    expect(stop.signal.aborted).toBe(true);
  });
});
