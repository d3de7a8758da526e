/** Pauses between the requests of a bulk change, in a browser. */
import { ApiError } from '../../../api/problem.ts';

/** Where the API does not say how long to pause. */
const PAUSE_MS = 2_000;

/** The pause that a rate limit demands, ms; undefined for every other error. */
export function pauseAfter(error: unknown): number | undefined {
  const isTooOften = error instanceof ApiError && error.problem.status === 429;
  return isTooOften ? (error.problem.retryAfterMs ?? PAUSE_MS) : undefined;
}

/** Resolves after the time, or when the signal aborts. */
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
