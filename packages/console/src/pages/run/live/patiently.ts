/** Repeats a request that the API could not answer temporarily, for example while its worker is replaced. */
import { ApiError, isPassing } from '../../../api/problem.ts';

/** About fifteen seconds in all; after that the error is shown. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** @throws the error of the last attempt; the first error if it is permanent */
export async function retryWhileBusy<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      const requestedMs = error instanceof ApiError ? (error.problem.retryAfterMs ?? 0) : 0;
      await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, requestedMs)));
      if (signal.aborted) throw error;
    }
  }
  return ask();
}
