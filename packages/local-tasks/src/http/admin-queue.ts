/**
 * The emulator API that `firebase-admin` uses over HTTP/1.1 (`CLOUD_TASKS_EMULATOR_HOST`): creates and deletes tasks of a queue, which
 * has the name of its function. Owns the request format; `service.ts` has the operations.
 */
import type { IncomingMessage } from 'node:http';
import { type BodyRefusals, jsonBody } from '@cairn/local-kit/http/json-body';
import { fromJson, toJson } from '@cairn/local-kit/wire/proto-json';
import type protobuf from 'protobufjs';
import { invalid } from '../errors.ts';

interface AdminQueueOptions {
  readonly protocol: protobuf.Root;
  createTask(request: never): object;
  deleteTask(request: { readonly name: string }): object;
  /** URL of a function, for tasks without a URL. */
  functionUrl(name: string): string;
}

/** Has no prefix `/v2`, unlike the paths of Cloud Tasks' own API. */
const PATH = /^\/(projects\/[^/]+\/locations\/[^/]+\/queues\/([^/]+))\/tasks(?:\/([^/]+))?$/;
/** Enough for a task of 1 MiB with its body in base64. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
const BODY: BodyRefusals = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => invalid(`A request has at most ${MAX_BODY_BYTES} bytes.`),
  malformed: (why) => invalid(`The body is not JSON: ${why}`),
};
const PACKAGE = 'google.cloud.tasks.v2';

/** Resolves with undefined for a request that is not from `firebase-admin`. @throws GrpcRefusal */
export async function adminQueueCall(
  request: IncomingMessage,
  path: string,
  options: AdminQueueOptions,
): Promise<unknown> {
  const [, parent, queue = '', task] = PATH.exec(path) ?? [];
  if (parent !== undefined && request.method === 'DELETE' && task !== undefined) {
    return options.deleteTask({ name: `${parent}/tasks/${task}` });
  }
  if (parent === undefined || request.method !== 'POST' || task !== undefined) return undefined;
  const type = options.protocol.lookupType(`${PACKAGE}.CreateTaskRequest`);
  const message = fromJson(type, (await jsonBody(request, BODY)) ?? {}) as {
    task?: { httpRequest?: { url?: string } };
  };
  const http = message.task?.httpRequest;
  if (http && !http.url) http.url = options.functionUrl(queue);
  const created = options.createTask(type.fromObject({ ...message, parent }) as never);
  const taskType = options.protocol.lookupType(`${PACKAGE}.Task`);
  return toJson(taskType, taskType.fromObject(created));
}
