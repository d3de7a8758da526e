/** Converts gRPC statuses to the JSON of Google's APIs. */
import { status } from '@grpc/grpc-js';

/** HTTP status by canonical code, as in Google's APIs (google.rpc.Code). */
const HTTP_STATUS: Partial<Record<status, number>> = {
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.NOT_FOUND]: 404,
  [status.ALREADY_EXISTS]: 409,
  [status.PERMISSION_DENIED]: 403,
  [status.RESOURCE_EXHAUSTED]: 429,
  [status.FAILED_PRECONDITION]: 400,
  [status.ABORTED]: 409,
  [status.OUT_OF_RANGE]: 400,
  [status.UNIMPLEMENTED]: 501,
  [status.INTERNAL]: 500,
  [status.UNAVAILABLE]: 503,
};

export interface JsonStatus {
  readonly error: {
    /** The HTTP status. */
    readonly code: number;
    readonly message: string;
    readonly status: string;
    readonly details?: readonly object[];
  };
}

/** A status of a gRPC handler. */
export interface HandlerStatus {
  readonly code: status;
  readonly details: string;
  /** Members of its `google.rpc.ErrorInfo`. */
  readonly info?: object;
}

export function jsonStatus({ code, details, info }: HandlerStatus): JsonStatus {
  return {
    error: {
      code: HTTP_STATUS[code] ?? 500,
      message: details,
      status: status[code] ?? 'UNKNOWN',
      ...(info && { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }] }),
    },
  };
}
