/**
 * Deadlines of single calls to the store. Google's clients allow minutes and retry calls internally, so that a caller
 * could not decide what to do while the store is down.
 */
import type { Clock } from '../../ports/clock.ts';
import { GRPC_STATUS } from '../../ports/grpc-outcome.ts';

export interface Deadlines {
  /** One commit or other single request, ms. */
  readonly commitMs: number;
  /** One read, from the request to its last document, ms. */
  readonly readMs: number;
}

/**
 * A commit takes tens of ms, or seconds if documents are contended. A read may return 32 MiB (a page of checkpoints, a
 * payload), so it gets a little more. A listener has no deadline, because it stays open.
 */
export const DEADLINES: Deadlines = { commitMs: 8_000, readMs: 10_000 };

/**
 * Extra time for work of the library before its own deadline counts (finding credentials, opening a channel).
 * If possible, the library's own error comes first, because it has more details.
 */
const BEFORE_THE_CALL_MS = 1_000;

/** @throws an error with the status DEADLINE_EXCEEDED if the call has no response within `deadlineMs` and a second */
export async function within<T>(clock: Clock, deadlineMs: number, sent: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  // Prevents an unhandled rejection if the response came first.
  late.promise.catch(() => {});
  // A timer instead of a signal: aborting a signal creates an error with a stack for every call.
  const cancel = clock.timer(deadlineMs + BEFORE_THE_CALL_MS, () => {
    const error = new Error(`no response within ${deadlineMs} ms`);
    late.reject(Object.assign(error, { code: GRPC_STATUS.DEADLINE_EXCEEDED }));
  });
  try {
    return await Promise.race([sent, late.promise]);
  } finally {
    cancel();
  }
}
