/**
 * Sends many requests, a few at a time. A rate limit pauses all of them. After an abort nothing more is sent, and the outcome of
 * sent requests is awaited. Must not: know what the requests are.
 */
import { THIS_MACHINE } from './transport.ts';

/** Concurrent requests: fewer than the connections of a browser, so that the page keeps some. */
export const AT_ONCE = 4;
/** Attempts of a request that is rate limited. */
const MAX_ATTEMPTS = 10;
/** Pause if a rate limit names none. */
const PAUSE_MS = 2_000;

export type SendState<R> =
  | { readonly at: 'waiting' }
  | { readonly at: 'sending' }
  | { readonly at: 'done'; readonly answer: R }
  | { readonly at: 'failed'; readonly error: unknown };

export interface SendAllOptions<T, R> {
  /** Sends the request of an item; a repetition must send the same request. */
  work(item: T): Promise<R>;
  /** The refusal of the API, if the error is one. */
  refusalOf(error: unknown): Refused | undefined;
  onSent(item: T, sent: SendState<R>): void;
  /** Called with the length of a pause of all requests, ms, and with undefined when it is over. */
  onPause(ms: number | undefined): void;
  /** Resolves after `ms`, or when the signal aborts. Default: the platform's timer. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
  readonly signal: AbortSignal;
}

export interface Refused {
  /** HTTP status. */
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Resolves when each item has succeeded or failed, or, after an abort, when the requests in progress have ended. Never throws.
 */
export async function sendAll<T, R>(items: readonly T[], running: SendAllOptions<T, R>): Promise<void> {
  const { signal, sleep = THIS_MACHINE.sleep } = running;
  let next = 0;
  let pause: Promise<void> | undefined;

  const stayAway = (ms: number) => {
    if (pause) return;
    running.onPause(ms);
    pause = sleep(ms, signal).then(() => {
      pause = undefined;
      running.onPause(undefined);
    });
  };

  const sendOne = async (item: T): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      await pause;
      if (signal.aborted) return;
      running.onSent(item, { at: 'sending' });
      try {
        return running.onSent(item, { at: 'done', answer: await running.work(item) });
      } catch (error) {
        const pauseMs = attempt === MAX_ATTEMPTS ? undefined : pauseAfter(running.refusalOf(error));
        if (pauseMs === undefined) return running.onSent(item, { at: 'failed', error });
        running.onSent(item, { at: 'waiting' });
        stayAway(pauseMs);
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

/** The pause that a refusal requires, ms; undefined if the request has failed. */
function pauseAfter(refused: Refused | undefined): number | undefined {
  return refused?.status === 429 ? (refused.retryAfterMs ?? PAUSE_MS) : undefined;
}
