/** Errors of calls in the JSON of Google's APIs. */
import { type JsonStatus, jsonStatus } from '@cairn/local-kit/rest/json-status';
import { JsonShapeError } from '@cairn/local-kit/wire/proto-json';
import { invalid } from '../model/status.ts';
import { toStatus } from '../service/calls/grpc-outcome.ts';

/** @param thrown error of a handler, or a gRPC status */
export function errorBody(thrown: unknown): JsonStatus {
  if (isStatus(thrown)) return jsonStatus(thrown);
  return jsonStatus(toStatus(thrown instanceof JsonShapeError ? invalid(thrown.message) : thrown));
}

function isStatus(thrown: unknown): thrown is { code: number; details: string } {
  return !(thrown instanceof Error) && typeof thrown === 'object' && thrown !== null && 'details' in thrown;
}
