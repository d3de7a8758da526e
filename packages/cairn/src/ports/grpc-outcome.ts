/** Meaning of the gRPC status of a failed call to a Google service. One table for all adapters. */

/** The statuses that a call can fail with. */
export const GRPC_STATUS = {
  CANCELLED: 1,
  UNKNOWN: 2,
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
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/**
 * `unknown`: only the service knows whether the call was applied; sending the same bytes again is safe (J8). The others
 * were certainly not applied. `precondition`: a precondition of the call does not hold; if it has none, the service
 * refuses the request. `request`: the service will refuse these bytes every time. `installation`: it refuses the
 * caller, or the database does not exist: requests of all runs fail until that is fixed.
 */
type CallFailure = 'unknown' | 'precondition' | 'request' | 'installation';

const FAILURES: Readonly<Record<number, CallFailure>> = {
  [GRPC_STATUS.CANCELLED]: 'unknown',
  [GRPC_STATUS.UNKNOWN]: 'unknown',
  [GRPC_STATUS.DEADLINE_EXCEEDED]: 'unknown',
  // Firestore asks to "retry with exponential backoff" and does not guarantee that nothing was applied. The client itself throws this
  // when the response of an applied call is too large for it.
  [GRPC_STATUS.RESOURCE_EXHAUSTED]: 'unknown',
  [GRPC_STATUS.ABORTED]: 'unknown',
  [GRPC_STATUS.INTERNAL]: 'unknown',
  [GRPC_STATUS.UNAVAILABLE]: 'unknown',
  [GRPC_STATUS.NOT_FOUND]: 'precondition',
  [GRPC_STATUS.ALREADY_EXISTS]: 'precondition',
  [GRPC_STATUS.FAILED_PRECONDITION]: 'precondition',
  // Includes a document above 1 MiB, and a request above 10 MiB.
  [GRPC_STATUS.INVALID_ARGUMENT]: 'request',
  [GRPC_STATUS.OUT_OF_RANGE]: 'request',
  [GRPC_STATUS.DATA_LOSS]: 'request',
  [GRPC_STATUS.PERMISSION_DENIED]: 'installation',
  [GRPC_STATUS.UNAUTHENTICATED]: 'installation',
  [GRPC_STATUS.UNIMPLEMENTED]: 'installation',
};

/** Errors of the operating system that client libraries throw instead of a status. */
const CONNECTION_ERRORS: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** The gRPC status of an error; undefined if the error does not come from a service. */
export function grpcStatusOf(error: unknown): number | undefined {
  const code = codeOf(error);
  return typeof code === 'number' ? code : undefined;
}

/** Undefined for an error that does not come from a call: a bug, or an error of Cairn itself. */
export function callFailureOf(error: unknown): CallFailure | undefined {
  const code = codeOf(error);
  if (CONNECTION_ERRORS.has(code)) return 'unknown';
  return typeof code === 'number' ? FAILURES[code] : undefined;
}

/** Returns true if it is unknown whether the call was applied. */
export function leavesOutcomeUnknown(error: unknown): boolean {
  return callFailureOf(error) === 'unknown';
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
