import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError, problemOf } from '../../../packages/console/src/api/problem.ts';
import {
  EMPTY_LOG,
  isFull,
  MAX_EVENTS,
  MAX_SINCE,
  reach,
  withHistory,
} from '../../../packages/console/src/pages/run/live/event-log.ts';
import type { RunEvent, RunGraph } from '../../../packages/console/src/pages/run/live/events.ts';
import {
  type FollowerHandlers,
  RunFollower,
  type RunSource,
} from '../../../packages/console/src/pages/run/live/run-follower.ts';

const PAGE = 100;

const event = (seq: number): RunEvent =>
  ({
    seq,
    type: 'step_succeeded',
    at: new Date(seq * 1_000).toISOString(),
    data: {
      stepId: `s${seq}`,
      kind: 'step',
      revision: 1,
      attempt: 1,
      startedAt: new Date(seq * 1_000 - 10).toISOString(),
      durationMs: 10,
    },
  }) as unknown as RunEvent;

/** An API whose run has `head` events; `happen` adds more. */
function api(head: number, status = 'running') {
  let last = head;
  let handlers: FollowerHandlers | undefined;
  let after = 0;
  const asked: number[] = [];
  const source: RunSource = {
    readGraph: async () => ({ runId: 'r', type: 't', planVersion: 1, status, head, steps: [] }) as RunGraph,
    readEvents: async (cursor = '0') => {
      const from = Number(cursor);
      asked.push(from);
      const items = Array.from({ length: Math.min(PAGE, last - from) }, (_, at) => event(from + at + 1));
      return from + PAGE < last ? { items, next: String(from + PAGE) } : { items };
    },
    follow: (from, listener, signal) => {
      handlers = listener;
      after = from;
      listener.onState('live');
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  return {
    source,
    asked,
    happen(count: number) {
      for (let at = 0; at < count; at += 1) {
        last += 1;
        expect(after).toBe(last - 1);
        after = last;
        handlers?.onEvent(event(last));
      }
    },
    told: () => handlers as FollowerHandlers,
  };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const settle = () => jest.advanceTimersByTimeAsync(200);

describe('a followed run', () => {
  test('has its journal also if the page requested it before following, or during a restart', async () => {
    const { source: atOnce } = api(250);
    const source: RunSource = {
      ...atOnce,
      readEvents: async (cursor) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return atOnce.readEvents(cursor);
      },
    };
    const follower = new RunFollower(source);
    follower.loadUntil(1_000);
    follower.start();
    await settle();
    expect(follower.shown().events.length).toBe(250);
    const other = new RunFollower(source);
    other.start()();
    other.loadUntil(1_000);
    const stop = other.start();
    await settle();
    expect(other.shown().history).toMatchObject({ complete: true, loading: false, error: undefined });
    stop();
  });

  test('has its whole journal in order, however many events arrive while it is read', async () => {
    const { source, happen } = api(250);
    const follower = new RunFollower(source);
    const stop = follower.start();
    await jest.advanceTimersByTimeAsync(0);
    happen(30);
    await settle();
    happen(3);
    await settle();
    const { events, head, history, live, steps, histories } = follower.shown();
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 283 }, (_, at) => at + 1));
    expect([head, history.complete, live, steps.size, histories.size]).toEqual([283, true, 'live', 33, 283]);
    stop();
  });

  test('is shown at once, and followed from there, if its graph was already read', async () => {
    const { source, happen } = api(250);
    const graph = await source.readGraph();
    const readGraph = jest.fn(source.readGraph);
    const follower = new RunFollower({ ...source, readGraph }, graph);
    const { graph: first, head, history, live } = follower.shown();
    expect([first?.runId, head, history.loading, live]).toEqual(['r', 250, true, 'reconnecting']);
    const stop = follower.start();
    await settle();
    happen(3);
    await settle();
    expect(follower.shown().head).toBe(253);
    expect([follower.shown().events.length, follower.shown().history.complete]).toEqual([253, true]);
    expect(readGraph).not.toHaveBeenCalled();
    stop();
  });

  test('loads only the beginning of a long journal, and the rest on request', async () => {
    const { source, asked, happen } = api(5_000);
    const follower = new RunFollower(source);
    const stop = follower.start();
    await settle();
    expect([asked.length, follower.shown().events.length, follower.shown().history.complete]).toEqual([
      5,
      500,
      false,
    ]);
    happen(10);
    await settle();
    expect([follower.shown().head, follower.shown().events.length]).toEqual([5_010, 500]);
    follower.loadUntil(Number.POSITIVE_INFINITY);
    await settle();
    expect([follower.shown().events.length, follower.shown().history.complete]).toEqual([5_010, true]);
    expect(new Set(asked).size).toBe(asked.length);
    stop();
  });

  test('keeps a limited number of live events, and rereads the others on request', async () => {
    const { source, happen } = api(1_500);
    const follower = new RunFollower(source);
    const stop = follower.start();
    await settle();
    for (let round = 0; round < 3; round += 1) {
      happen(MAX_SINCE / 2);
      await settle();
    }
    follower.loadUntil(Number.POSITIVE_INFINITY);
    await settle();
    expect(follower.shown().events.length).toBe(1_500 + 1.5 * MAX_SINCE);
    stop();
  });

  test('is reported as ended only after its last event', async () => {
    const { source, happen, told } = api(3);
    const follower = new RunFollower(source);
    const stop = follower.start();
    await settle();
    happen(1);
    told().onEnd();
    expect([follower.shown().live, follower.shown().head]).toEqual(['ended', 4]);
    stop();
  });

  test('is not shown as ended while it is followed again after a refusal', async () => {
    const { source, told } = api(3);
    const refusal = new Error('refused by the test');
    let isSilent = false;
    const follow: RunSource['follow'] = (after, handlers, signal) =>
      isSilent ? Promise.resolve() : source.follow(after, handlers, signal);
    const follower = new RunFollower({ ...source, follow });
    follower.start();
    await settle();
    told().onRefused(refusal);
    expect([follower.shown().live, follower.shown().error]).toEqual(['ended', refusal]);
    isSilent = true;
    const stop = follower.start();
    await settle();
    expect([follower.shown().live, follower.shown().error]).toEqual(['reconnecting', undefined]);
    stop();
  });

  test('retries if the API is temporarily unavailable, and not after a refusal', async () => {
    const { source } = api(10);
    const refusals = [503, 0, 429];
    const readGraph: RunSource['readGraph'] = async () => {
      const status = refusals.shift();
      if (status === undefined) return source.readGraph();
      throw new ApiError(problemOf(status, ''));
    };
    const follower = new RunFollower({ ...source, readGraph });
    const stop = follower.start();
    await jest.advanceTimersByTimeAsync(5_000);
    expect([follower.shown().head, follower.shown().error]).toEqual([10, undefined]);
    stop();

    const gone = new ApiError(problemOf(404, ''));
    const other = new RunFollower({ ...source, readGraph: () => Promise.reject(gone) });
    const stopOther = other.start();
    await settle();
    expect(other.shown().error).toBe(gone);
    stopOther();
  });

  test('shows an error of its journal, and continues from there on retry', async () => {
    const { source } = api(10);
    let failing = true;
    const follower = new RunFollower({
      ...source,
      readEvents: (cursor) => (failing ? Promise.reject(new Error('down')) : source.readEvents(cursor)),
    });
    const stop = follower.start();
    await settle();
    expect(follower.shown().history.error).toEqual(new Error('down'));
    failing = false;
    follower.loadUntil(1);
    await settle();
    expect([follower.shown().history.error, follower.shown().events.length]).toEqual([undefined, 10]);
    stop();
  });
});

test('a journal is kept up to the limit of the page', () => {
  const events = Array.from({ length: MAX_EVENTS + 1 }, (_, at) => ({ seq: at + 1 }) as RunEvent);
  const whole = withHistory(EMPTY_LOG, events.slice(0, -2));
  expect([reach(whole), isFull(whole)]).toEqual([MAX_EVENTS - 1, false]);
  const more = withHistory(whole, events.slice(-2));
  expect([reach(more), isFull(more)]).toEqual([MAX_EVENTS, true]);
});
