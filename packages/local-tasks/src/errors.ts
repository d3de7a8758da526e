/**
 * Errors of the Cloud Tasks server: a gRPC status and a message. Messages are those of production where known, so that code
 * that matches on them behaves the same.
 */
import { status } from '@grpc/grpc-js';

/** Thrown by a handler, answered to the caller as this status. */
export class TasksError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.name = 'TasksError';
    this.code = code;
  }
}

export const invalid = (message: string) => new TasksError(status.INVALID_ARGUMENT, message);

export const notFound = () => new TasksError(status.NOT_FOUND, 'Requested entity was not found.');

export const queueMissing = () =>
  new TasksError(
    status.NOT_FOUND,
    'Queue does not exist. If you just created the queue, wait at least a minute for the queue to initialize.',
  );

export const taskExists = () => new TasksError(status.ALREADY_EXISTS, 'Requested entity already exists');

export const taskExistedRecently = () =>
  new TasksError(
    status.ALREADY_EXISTS,
    'The task cannot be created because a task with this name existed too recently. For more information about task de-duplication see https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues.tasks/create#body.request_body.FIELDS.task.',
  );

export const queueExists = () => new TasksError(status.ALREADY_EXISTS, 'Queue already exists');

export const unimplemented = (what: string) =>
  new TasksError(status.UNIMPLEMENTED, `${what} is not implemented by the local Cloud Tasks server.`);
