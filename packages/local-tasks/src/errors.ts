/**
 * Errors of the Cloud Tasks server: a gRPC status and a message. Messages are those of production where known, so that code
 * that matches on them behaves the same.
 */
import { GrpcRefusal } from '@cairn/local-kit/wire/grpc-refusal';
import { status } from '@grpc/grpc-js';

export const invalid = (message: string) => new GrpcRefusal(status.INVALID_ARGUMENT, message);

export const notFound = () => new GrpcRefusal(status.NOT_FOUND, 'Requested entity was not found.');

export const queueMissing = () =>
  new GrpcRefusal(
    status.NOT_FOUND,
    'Queue does not exist. If you just created the queue, wait at least a minute for the queue to initialize.',
  );

/** The answer for a task that is gone while its name is still taken. */
export const taskGone = () =>
  new GrpcRefusal(
    status.NOT_FOUND,
    'The task no longer exists, though a task with this name existed recently. The task either successfully completed or was deleted.',
  );

export const taskExists = () => new GrpcRefusal(status.ALREADY_EXISTS, 'Requested entity already exists');

export const taskExistedRecently = () =>
  new GrpcRefusal(
    status.ALREADY_EXISTS,
    'The task cannot be created because a task with this name existed too recently. For more information about task de-duplication see https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues.tasks/create#body.request_body.FIELDS.task.',
  );

export const queueExists = () => new GrpcRefusal(status.ALREADY_EXISTS, 'Queue already exists');

export const failedPrecondition = (message: string) => new GrpcRefusal(status.FAILED_PRECONDITION, message);
