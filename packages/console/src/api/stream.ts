/**
 * Follows a stream of the API for as long as a page needs it, and makes no requests while the page is hidden. `EventSource`
 * cannot send a credential, so `@cairn/client` reads the answer of a `fetch`.
 */
import type { EventFrame, Stream } from '@cairn/client';
import type { Api } from './client.ts';
import { type ApiError, shownError } from './problem.ts';

export interface StreamFollowing extends Pick<Stream, 'target'> {
  /** Id of the last event that is known; absent: from the beginning. */
  readonly after?: string;
  onMessage(message: EventFrame): void;
  /** Called when the connection opens or is lost. */
  onState(state: 'live' | 'reconnecting'): void;
  /** Called when the API refuses the stream permanently. */
  onRefused(error: ApiError): void;
}

const PACE = {
  maxFailures: Number.POSITIVE_INFINITY,
  pauseMs: 0,
  wholePauseMs: 4_000,
  // One message of the API is missing: a page must not call itself live while the API hangs.
  silenceMs: 20_000,
};

/** Follows the stream until the signal aborts, the API refuses, or it ends. Never throws. */
export async function followStream(api: Api, following: StreamFollowing, signal: AbortSignal): Promise<void> {
  const { target, after, onMessage, onState, onRefused } = following;
  const pace = { ...PACE, untilWanted: () => untilSeen(signal) };
  try {
    for await (const streamed of api.follow({ target, after, signal, pace })) {
      if (signal.aborted) return;
      if (streamed.kind === 'frame') onMessage(streamed.frame);
      else onState(streamed.kind === 'open' ? 'live' : 'reconnecting');
    }
  } catch (error) {
    if (!signal.aborted) onRefused(shownError(error) as ApiError);
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
