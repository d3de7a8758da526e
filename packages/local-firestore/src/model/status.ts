/**
 * Errors that this server returns: a canonical gRPC code with a message. Pure; independent of the transport.
 */

/** Canonical gRPC codes, as numbers (google.rpc.Code). */
export const Code = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** Message for every transaction that was aborted because of others. */
export const CONTENTION =
  'Aborted due to cross-transaction contention. This occurs when multiple transactions attempt to access the same data, ' +
  'requiring Firestore to abort at least one in order to enforce serializability.';

type StatusCode = (typeof Code)[keyof typeof Code];

/** An error for the caller. Any other thrown error is a defect and is reported as INTERNAL. */
export class StatusError extends Error {
  readonly code: StatusCode;

  constructor(code: StatusCode, message: string) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
  }
}

export function invalid(message: string): StatusError {
  return new StatusError(Code.INVALID_ARGUMENT, message);
}

export function unimplemented(message: string): StatusError {
  return new StatusError(Code.UNIMPLEMENTED, message);
}

/**
 * Most characters of a message, and of a text of the request in it. The message is sent as an HTTP/2 trailer, where one character takes up
 * to nine bytes and all trailers together have at most 64 KiB.
 */
const MAX_MESSAGE = 7_000;
const MAX_PART = 6_144;

/** Truncates text of the request for an error message. */
export function shown(text: string): string {
  return cut(text, MAX_PART);
}

/** Truncates a message to the size of a trailer and makes it valid Unicode, which a trailer requires. */
export function trailerText(message: string): string {
  return cut(message, MAX_MESSAGE);
}

function cut(text: string, most: number): string {
  return (text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed();
}
