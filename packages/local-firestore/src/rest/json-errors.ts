/** Errors of calls in the JSON of Google's APIs. */
import { JsonShapeError } from '@cairn/local-kit/wire/proto-json';
import { Code, invalid } from '../model/status.ts';
import { toStatus } from '../service/calls/grpc-outcome.ts';

/** By canonical code, as Google's APIs map it (google.rpc.Code). */
const HTTP_STATUS: Readonly<Record<number, number>> = {
  [Code.CANCELLED]: 499,
  [Code.INVALID_ARGUMENT]: 400,
  [Code.DEADLINE_EXCEEDED]: 504,
  [Code.NOT_FOUND]: 404,
  [Code.ALREADY_EXISTS]: 409,
  [Code.PERMISSION_DENIED]: 403,
  [Code.RESOURCE_EXHAUSTED]: 429,
  [Code.FAILED_PRECONDITION]: 400,
  [Code.ABORTED]: 409,
  [Code.OUT_OF_RANGE]: 400,
  [Code.UNIMPLEMENTED]: 501,
  [Code.INTERNAL]: 500,
  [Code.UNAVAILABLE]: 503,
};
const NAMES = new Map<number, string>(Object.entries(Code).map(([name, code]) => [code, name]));

interface ErrorBody {
  readonly error: { readonly code: number; readonly message: string; readonly status: string };
}

/** `error.code` is the HTTP status. Takes a `StatusError`, or a status as gRPC has it; anything else is a defect. */
export function errorBody(thrown: unknown): ErrorBody {
  const { code, details } = isStatus(thrown)
    ? thrown
    : toStatus(thrown instanceof JsonShapeError ? invalid(thrown.message) : thrown);
  return {
    error: { code: HTTP_STATUS[code] ?? 500, message: details, status: NAMES.get(code) ?? 'UNKNOWN' },
  };
}

function isStatus(thrown: unknown): thrown is { code: number; details: string } {
  return !(thrown instanceof Error) && typeof thrown === 'object' && thrown !== null && 'details' in thrown;
}
