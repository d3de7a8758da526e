/** How adapters say what is known after a failed call. */
import { messageOf } from '../core/thrown.ts';

/**
 * The call may or may not have been applied (connection lost, deadline, ABORTED, UNAVAILABLE). Sending the same bytes
 * again is safe for every commit of ours (J8).
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  constructor(what: string, cause: unknown) {
    super(`${what}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * A document that this software cannot have left so: damaged, changed by hand, or gone though another needs it. The message names it and what is wrong with
 * it, and shows nothing of what it holds.
 */
export class UndecodableDocument extends Error {
  override readonly name = 'UndecodableDocument';
}
