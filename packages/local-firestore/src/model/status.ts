/**
 * The refusals this server can answer: a canonical gRPC code with a message that says what to do.
 * Pure; knows nothing of transport.
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

/** Message of every transaction that others made give way, whatever the reason. */
export const CONTENTION =
  'Aborted due to cross-transaction contention. This occurs when multiple transactions attempt to access the same data, ' +
  'requiring Firestore to abort at least one in order to enforce serializability.';

type StatusCode = (typeof Code)[keyof typeof Code];

/** A refusal meant for the caller. Anything else that is thrown is a defect and answers INTERNAL. */
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
 * Most characters of a message, and of a part of it that a request gave. The message is a trailer of HTTP/2, where one character has up
 * to nine and all trailers have 64 KiB.
 */
const MAX_MESSAGE = 7_000;
const MAX_PART = 6_144;

/** The part of a refusal that comes from the request, cut. */
export function shown(text: string): string {
  return cut(text, MAX_PART);
}

/** A message that fits its trailer; text that is not valid Unicode could not be sent either. */
export function trailerText(message: string): string {
  return cut(message, MAX_MESSAGE);
}

function cut(text: string, most: number): string {
  return (text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed();
}
