/** Errors of adapters, by what is known after a failed call. */
import { NewerSchemaError } from '../core/run/events.ts';
import { messageOf } from '../core/thrown.ts';

/**
 * The call may or may not have been applied (connection lost, deadline, ABORTED, UNAVAILABLE). Sending the same bytes
 * again is safe for every commit of Cairn (J8).
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  constructor(what: string, cause: unknown) {
    super(`${what}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * The store refused the call permanently, and nothing was applied: the same bytes will be refused again. Sending them
 * later helps only for the reason `installation` (permissions, database), which can be fixed.
 */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  /** The gRPC status. */
  readonly code: number;
  readonly reason: 'request' | 'installation';
  constructor(what: string, cause: unknown, { code, reason }: Pick<StoreRefused, 'code' | 'reason'>) {
    super(`${what}: ${messageOf(cause)}`, { cause });
    this.code = code;
    this.reason = reason;
  }
}

/**
 * A document that this software cannot have written: damaged, changed by hand, or missing although another refers to it. The
 * message names the document and the problem, and contains no data.
 */
export class UndecodableDocument extends Error {
  override readonly name = 'UndecodableDocument';
}

/** True for an error of a single document, which in a list must not hide the others: damaged, or written by a newer version. */
export function isOfDocument(error: unknown): error is UndecodableDocument | NewerSchemaError {
  return error instanceof UndecodableDocument || error instanceof NewerSchemaError;
}

/** Undefined for a document that cannot be decoded, or that a newer version wrote. */
export function ifDecodable<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (isOfDocument(error)) return undefined;
    throw error;
  }
}
