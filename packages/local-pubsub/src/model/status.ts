/**
 * The errors of the Pub/Sub server: a gRPC status code and a message for the caller. Messages are those of production if
 * known, so that code that matches on them behaves the same.
 */
import { GrpcRefusal } from '@cairn/local-kit/wire/grpc-refusal';
import { status } from '@grpc/grpc-js';

/** A `google.rpc.ErrorInfo`, which clients read in addition to the status. */
export interface ErrorInfo {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Thrown by a handler and sent to the caller as this status. */
export class PubsubError extends GrpcRefusal {
  readonly info: ErrorInfo | undefined;

  constructor(code: status, message: string, info?: ErrorInfo) {
    super(code, message);
    this.info = info;
  }
}

const lastSegment = (name: string) => name.slice(name.lastIndexOf('/') + 1);

export const invalid = (message: string, info?: ErrorInfo) =>
  new PubsubError(status.INVALID_ARGUMENT, message, info);

export const missing = (name: string) =>
  new PubsubError(status.NOT_FOUND, `Resource not found (resource=${lastSegment(name)}).`);

export const exists = (name: string) =>
  new PubsubError(
    status.ALREADY_EXISTS,
    `Resource already exists in the project (resource=${lastSegment(name)}).`,
  );

export const precondition = (message: string) => new PubsubError(status.FAILED_PRECONDITION, message);

export const notForPush = () => precondition('This method is not supported for push subscriptions.');

export const unavailable = (message: string) => new PubsubError(status.UNAVAILABLE, message);

export const unimplemented = (what: string) =>
  new PubsubError(status.UNIMPLEMENTED, `${what} is not implemented by the local Pub/Sub server.`);
