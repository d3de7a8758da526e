/** Streams behind a proxy that buffers whole responses, such as Firebase Hosting. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Api } from '../../../packages/console/src/api/client.ts';
import { followStream, type StreamFollowing } from '../../../packages/console/src/api/stream.ts';

const FIRST_WORD_MS = 5_000;
const WHOLE_PAUSE_MS = 4_000;
const TRY_AGAIN_MS = 600_000;
/** The API's, which is sent while nothing happens. */
const HEARTBEAT_MS = 15_000;

const page = Object.assign(new EventTarget(), { hidden: false });
const { fetch } = globalThis;
let over: AbortController;
beforeEach(() => {
  jest.useFakeTimers();
  page.hidden = false;
  Object.assign(globalThis, { document: page });
  over = new AbortController();
});
afterEach(() => {
  over.abort();
  jest.useRealTimers();
  Reflect.deleteProperty(globalThis, 'document');
  globalThis.fetch = fetch;
});

/** The network between the page and the API. With `isWholeOnly`, it forwards only complete responses. */
interface Way {
  isWholeOnly: boolean;
  /** A sign-in page of the network answers instead of the API. */
  isPage?: boolean;
  /** The API is suspended: it answers nothing. */
  hangs?: boolean;
}

function apiBehind(way: Way) {
  const asked: string[] = [];
  let count = 0;
  globalThis.fetch = async (target, init) => {
    const { signal } = init as { readonly signal: AbortSignal };
    asked.push(String(target));
    if (way.isPage)
      return new Response('<html><title>Sign in</title></html>', {
        headers: { 'content-type': 'text/html' },
      });
    const isFollowed = !String(target).includes('follow=false');
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      // A following stream ends after 50 s; buffered, it would arrive then.
      if (way.hangs || (way.isWholeOnly && isFollowed)) return;
      const open = new ReadableStream<Uint8Array>({
        start(controller) {
          count += 1;
          controller.enqueue(new TextEncoder().encode(`retry: 1000\n\nevent: run\ndata: ${count}\n\n`));
          if (!isFollowed) return controller.close();
          const beat = setInterval(
            () => way.hangs || controller.enqueue(new TextEncoder().encode(':\n\n')),
            HEARTBEAT_MS,
          );
          const end = () => {
            clearInterval(beat);
            controller.error(signal.reason as Error);
          };
          signal.addEventListener('abort', end, { once: true });
        },
      });
      resolve(new Response(open));
    });
  };
  const api = new Api(
    async () => 'a-key',
    () => false,
  );
  return { api, asked };
}

function follow(way: Way) {
  const { api, asked } = apiBehind(way);
  const heard: string[] = [];
  const states: string[] = [];
  const following: StreamFollowing = {
    target: ({ follow }) => (follow === false ? WHOLE : FOLLOWED),
    onMessage: ({ data }) => heard.push(data),
    onState: (state) => states.push(state),
    onRefused: () => states.push('refused'),
  };
  const done = followStream(api, following, over.signal);
  return { asked, heard, states, done };
}

const FOLLOWED = '/v1/runs/stream?limit=100';
const WHOLE = `${FOLLOWED}&follow=false`;

describe('a stream', () => {
  test('stays open if data arrives', async () => {
    const { asked, heard } = follow({ isWholeOnly: false });
    await jest.advanceTimersByTimeAsync(40_000);
    expect(asked).toEqual([FOLLOWED]);
    expect(heard).toEqual(['1']);
  });

  test('of a suspended API is not live after 20 s, and is live again when the API answers', async () => {
    const way: Way = { isWholeOnly: false };
    const { states } = follow(way);
    await jest.advanceTimersByTimeAsync(100);
    expect(states).toEqual(['live']);
    way.hangs = true;
    await jest.advanceTimersByTimeAsync(20_000);
    expect(states).toEqual(['live', 'reconnecting']);
    await jest.advanceTimersByTimeAsync(10_000);
    way.hangs = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(states.at(-1)).toBe('live');
  });

  test('that is silent twice is replaced by polling', async () => {
    const { asked, heard, states } = follow({ isWholeOnly: true });
    await jest.advanceTimersByTimeAsync(2 * FIRST_WORD_MS + 2 * WHOLE_PAUSE_MS + 100);
    expect(asked).toEqual([FOLLOWED, WHOLE, FOLLOWED, WHOLE, WHOLE, WHOLE]);
    expect(heard).toEqual(['1', '2', '3', '4']);
    expect(states).not.toContain('reconnecting');
  });

  test('that was silent during a cold start is followed', async () => {
    const way = { isWholeOnly: true };
    const { asked } = follow(way);
    await jest.advanceTimersByTimeAsync(FIRST_WORD_MS - 100);
    way.isWholeOnly = false;
    await jest.advanceTimersByTimeAsync(30_000);
    expect(asked).toEqual([FOLLOWED, WHOLE, FOLLOWED]);
  });

  test('that is answered with a web page is not live, and is retried with growing pauses', async () => {
    const { asked, states } = follow({ isWholeOnly: false, isPage: true });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(new Set(states)).toEqual(new Set(['reconnecting']));
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.length).toBeLessThan(20);
  });

  test('pauses for a hidden page, and continues at once when it is visible', async () => {
    const { asked } = follow({ isWholeOnly: true });
    await jest.advanceTimersByTimeAsync(2 * FIRST_WORD_MS + 100);
    page.hidden = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(4);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    await jest.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(5);
  });

  test('is retried later, and followed if data arrives', async () => {
    const way = { isWholeOnly: true };
    const { asked, done } = follow(way);
    await jest.advanceTimersByTimeAsync(2 * FIRST_WORD_MS + 100);
    way.isWholeOnly = false;
    await jest.advanceTimersByTimeAsync(TRY_AGAIN_MS + WHOLE_PAUSE_MS);
    expect(asked.at(-1)).toBe(FOLLOWED);
    over.abort();
    await done;
  });
});
