/**
 * Follows a stream of server-sent events over every cut: the API ends each within a minute, networks sooner. `EventSource`
 * cannot carry a credential, so the answer of a `fetch` is read. Where answers come only when they are whole (passage.ts),
 * it asks for what there is, again and again, while the page is seen.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Api } from './client.ts';
import { ApiError, isPassing } from './problem.ts';

export interface StreamFollowing {
  /** Path and query; asked for again after each cut. */
  target(): string;
  /** Id of the last event received, sent as `Last-Event-ID`; undefined: from the beginning. */
  lastId?(): string | undefined;
  onMessage(message: EventSourceMessage): void;
  /** Called when the connection opens or is lost. */
  onState(state: 'live' | 'reconnecting'): void;
  /** Called when the API refuses for good. */
  onRefused(error: ApiError): void;
  /** True: nothing more will come. */
  isOver?(): boolean;
}

/** The API sends something every 15 s; a stream that is silent for longer is closed. */
const SILENCE_MS = 45_000;
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** The API sends a first message at once. */
const FIRST_WORD_MS = 5_000;
/** Time between two buffered answers: each reads the list again, and every run of it is billed. */
const WHOLE_PAUSE_MS = 4_000;

/** Follows the stream until the signal aborts, the API refuses, or it ends. Never throws. */
export async function followStream(api: Api, following: StreamFollowing, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted && !following.isOver?.()) {
    let pauseMs = 0;
    try {
      if (api.passage.isWholeOnly() || !(await readStream(api, following, signal))) {
        await read(api, following, { query: 'follow=false', signal });
        if (api.passage.isWholeOnly()) pauseMs = WHOLE_PAUSE_MS;
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !isPassing(error)) return following.onRefused(error);
      pauseMs = Math.min(PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);
      failures += 1;
    }
    if (signal.aborted || following.isOver?.()) return;
    if (failures > 0) following.onState('reconnecting');
    await pause(pauseMs, signal);
    if (api.passage.isWholeOnly()) await untilSeen(signal);
  }
}

/** Follows one stream to its end. False if it was abandoned because no data arrived. */
async function readStream(api: Api, following: StreamFollowing, signal: AbortSignal): Promise<boolean> {
  const mute = new AbortController();
  const timer = setTimeout(() => mute.abort(), FIRST_WORD_MS);
  try {
    await read(api, following, {
      signal: AbortSignal.any([signal, mute.signal]),
      onPiece: () => {
        clearTimeout(timer);
        api.passage.spoke();
      },
    });
  } catch (error) {
    if (signal.aborted || !mute.signal.aborted) throw error;
    api.passage.wasMute();
    return false;
  } finally {
    clearTimeout(timer);
  }
  return true;
}

interface StreamReading {
  /** More of the query. */
  readonly query?: string;
  readonly signal: AbortSignal;
  readonly onPiece?: () => void;
}

async function read(
  api: Api,
  following: StreamFollowing,
  { query, signal, onPiece }: StreamReading,
): Promise<void> {
  const silent = new AbortController();
  let watchdog = setTimeout(() => silent.abort(), SILENCE_MS);
  try {
    const id = following.lastId?.();
    const headers: Record<string, string> = id === undefined ? {} : { 'last-event-id': id };
    const target = following.target();
    const url = query === undefined ? target : `${target}${target.includes('?') ? '&' : '?'}${query}`;
    const answer = await api.stream(url, headers, AbortSignal.any([signal, silent.signal]));
    following.onState('live');
    const parser = createParser({ onEvent: (message) => following.onMessage(message) });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return;
      onPiece?.();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silent.abort(), SILENCE_MS);
      parser.feed(piece.value);
    }
  } finally {
    clearTimeout(watchdog);
  }
}

/** A page in the background makes no requests, which would be billed. */
function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || !document.hidden) return resolve();
    const seen = new AbortController();
    const check = () => {
      if (document.hidden && !signal.aborted) return;
      seen.abort();
      resolve();
    };
    document.addEventListener('visibilitychange', check, { signal: seen.signal });
    signal.addEventListener('abort', check, { signal: seen.signal });
  });
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
