/** Refusals of the local servers: a gRPC status and the sentence that the caller sees. */
import { status } from '@grpc/grpc-js';
import { StorageFullError } from '../sqlite/storage-full.ts';

/** Thrown by a handler, answered to the caller as this status. */
export class GrpcRefusal extends Error {
  override readonly name = 'GrpcRefusal';
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** @param server names the server of the defect, for any other error */
export function grpcStatusOf(error: unknown, server: string): { code: status; details: string } {
  if (error instanceof GrpcRefusal) return { code: error.code, details: error.message };
  if (error instanceof StorageFullError) return { code: status.UNAVAILABLE, details: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: status.INTERNAL, details: `${server}: ${reason}` };
}
