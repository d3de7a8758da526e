/** What a failed call to a Google service says about the call, by its gRPC status; one table for every adapter. */

/** The statuses that adapters tell apart. */
export const GRPC_STATUS = {
  CANCELLED: 1,
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** After these nobody but the service knows whether the call was applied. */
const UNKNOWN_OUTCOMES: ReadonlySet<unknown> = new Set([
  GRPC_STATUS.CANCELLED,
  GRPC_STATUS.UNKNOWN,
  GRPC_STATUS.DEADLINE_EXCEEDED,
  GRPC_STATUS.RESOURCE_EXHAUSTED,
  GRPC_STATUS.ABORTED,
  GRPC_STATUS.INTERNAL,
  GRPC_STATUS.UNAVAILABLE,
]);

/** Errors of the operating system that client libraries pass on instead of a status. */
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

/** The gRPC status of an error; undefined for one that never met a service. */
export function grpcStatusOf(error: unknown): number | undefined {
  const code = codeOf(error);
  return typeof code === 'number' ? code : undefined;
}

/** Whether the call may or may not have been applied. */
export function leavesOutcomeUnknown(error: unknown): boolean {
  const code = codeOf(error);
  return UNKNOWN_OUTCOMES.has(code) || CONNECTION_ERRORS.has(code);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
