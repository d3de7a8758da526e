/** Errors of the local servers for callers: a gRPC status and a message. */
import { status } from '@grpc/grpc-js';
import { StorageFullError } from '../sqlite/storage-full.ts';

/** Thrown by a handler and sent to the caller as this status. */
export class GrpcRefusal extends Error {
  override readonly name = 'GrpcRefusal';
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** @param server name of the server, for the text of an unexpected error */
export function grpcStatusOf(error: unknown, server: string): { code: status; details: string } {
  if (error instanceof GrpcRefusal) return { code: error.code, details: error.message };
  if (error instanceof StorageFullError) return { code: status.UNAVAILABLE, details: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: status.INTERNAL, details: `${server}: ${reason}` };
}
