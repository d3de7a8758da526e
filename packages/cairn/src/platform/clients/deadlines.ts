/**
 * Deadlines of single calls to the store. Google's clients allow minutes, and repeat a call out of sight: a caller of ours
 * then never gets to decide what to do about a store that is down.
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
 * A commit takes tens of ms, and seconds where documents are contended. A read may bring 32 MiB (a page of checkpoints, a
 * payload), so it gets a little more. A listener has no deadline: it is to stay open.
 */
export const DEADLINES: Deadlines = { commitMs: 8_000, readMs: 10_000 };

/**
 * Extra time for work of the library before its own deadline counts (finding credentials, opening a channel).
 * The library's own answer comes first where it can, since it says more.
 */
const BEFORE_THE_CALL_MS = 1_000;

/** @throws an error with the status DEADLINE_EXCEEDED if the call has no answer `deadlineMs` and a second later */
export async function within<T>(clock: Clock, deadlineMs: number, sent: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  // Also where the answer came first.
  late.promise.catch(() => {});
  // A timer, not a signal: to abort one makes an error with a stack, for every call.
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
