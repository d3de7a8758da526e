/**
 * Follows a stream of server-sent events over every cut: the API ends each within a minute, networks sooner. `EventSource`
 * cannot carry a credential, so the answer of a `fetch` is read.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Api } from './client.ts';
import { ApiError, isPassing } from './problem.ts';

export interface Following {
  /** Path and query; asked for again after each cut. */
  target(): string;
  /** The id after which to go on, sent as `Last-Event-ID`; undefined: from the beginning. */
  lastId?(): string | undefined;
  onMessage(message: EventSourceMessage): void;
  /** Each time the connection stands, or is lost. */
  onState(state: 'live' | 'reconnecting'): void;
  /** The API refuses, and would do so again. */
  onRefused(error: ApiError): void;
  /** True: nothing more will come. */
  isOver?(): boolean;
}

/** The API says something every 15 s; what is silent for so long is cut. */
const SILENCE_MS = 45_000;
const PAUSE_MS = 500;
const MOST_PAUSE_MS = 10_000;

/** Until the signal aborts, the API refuses, or it is over. Never throws. */
export async function followStream(api: Api, following: Following, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted && !following.isOver?.()) {
    try {
      await once(api, following, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !isPassing(error)) return following.onRefused(error);
      failures += 1;
    }
    if (signal.aborted || following.isOver?.()) return;
    if (failures > 0) following.onState('reconnecting');
    await pause(failures === 0 ? 0 : Math.min(PAUSE_MS * 2 ** (failures - 1), MOST_PAUSE_MS), signal);
  }
}

async function once(api: Api, following: Following, signal: AbortSignal): Promise<void> {
  const silent = new AbortController();
  let watchdog = setTimeout(() => silent.abort(), SILENCE_MS);
  try {
    const id = following.lastId?.();
    const headers: Record<string, string> = id === undefined ? {} : { 'last-event-id': id };
    const answer = await api.stream(following.target(), headers, AbortSignal.any([signal, silent.signal]));
    following.onState('live');
    const parser = createParser({ onEvent: (message) => following.onMessage(message) });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silent.abort(), SILENCE_MS);
      parser.feed(piece.value);
    }
  } finally {
    clearTimeout(watchdog);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
