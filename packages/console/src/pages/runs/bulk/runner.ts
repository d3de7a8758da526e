/**
 * Many requests, a few at a time. Owns that whoever is told to stay away keeps all of them away, and that stopping sends no
 * more. What has been sent is waited for: what became of it must be known. Must not: know what is asked.
 */
import { ApiError } from '../../../api/problem.ts';

/** As a browser would have under way at once, with places left for the page itself. */
export const AT_ONCE = 4;
/** Attempts of a request that is rate limited. */
const MOST_SENDINGS = 10;
/** Where the API does not say how long to stay away. */
const PAUSE_MS = 2_000;

export type Sent<R> =
  | { readonly at: 'waiting' }
  | { readonly at: 'sending' }
  | { readonly at: 'done'; readonly answer: R }
  | { readonly at: 'failed'; readonly error: unknown };

export interface Running<T, R> {
  /** Must be the same request whenever it is asked for again. */
  work(item: T): Promise<R>;
  onSent(item: T, sent: Sent<R>): void;
  /** The length of a pause that all keep, ms; undefined: it is over. */
  onPause(ms: number | undefined): void;
  /** Resolves after `ms`, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly signal: AbortSignal;
}

/** Resolves when each is done or failed, or the signal aborted and the requests under way ended. Never throws. */
export async function sendAll<T, R>(items: readonly T[], running: Running<T, R>): Promise<void> {
  const { signal } = running;
  let next = 0;
  let pause: Promise<void> | undefined;

  const stayAway = (ms: number) => {
    if (pause) return;
    running.onPause(ms);
    pause = running.sleep(ms, signal).then(() => {
      pause = undefined;
      running.onPause(undefined);
    });
  };

  const sendOne = async (item: T): Promise<void> => {
    for (let sending = 1; ; sending += 1) {
      await pause;
      if (signal.aborted) return;
      running.onSent(item, { at: 'sending' });
      try {
        return running.onSent(item, { at: 'done', answer: await running.work(item) });
      } catch (error) {
        const isTooOften = error instanceof ApiError && error.problem.status === 429;
        if (!isTooOften || sending === MOST_SENDINGS) return running.onSent(item, { at: 'failed', error });
        running.onSent(item, { at: 'waiting' });
        stayAway(error.problem.retryAfterMs ?? PAUSE_MS);
      }
    }
  };

  const sender = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const item = items[next] as T;
      next += 1;
      await sendOne(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
}

/** For a browser; a test has its own. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over, { once: true });
    function over() {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    }
  });
}
