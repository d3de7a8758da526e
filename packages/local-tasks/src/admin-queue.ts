/**
 * The part of Cloud Tasks over HTTP/1.1 that `firebase-admin` uses of an emulator (`CLOUD_TASKS_EMULATOR_HOST`): it creates and
 * deletes tasks of a queue, which has the name of its function. Owns the request format; `service.ts` has the operations.
 */
import type { IncomingMessage, Server } from 'node:http';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { createServer } from '@cairn/local-kit/http/node-http';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import { GrpcRefusal } from '@cairn/local-kit/wire/grpc-refusal';
import { fromJson, JsonShapeError, toJson } from '@cairn/local-kit/wire/proto-json';
import { status } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { invalid } from './errors.ts';

interface TasksHttpOptions {
  readonly protocol: protobuf.Root;
  createTask(request: never): object;
  deleteTask(request: { readonly name: string }): object;
  /** URL of a function, for a task without one. */
  functionUrl(name: string): string;
}

const PATH = /^(?:\/v2)?\/(projects\/[^/]+\/locations\/[^/]+\/queues\/([^/]+))\/tasks(?:\/([^/]+))?$/;
/** A task of 1 MiB with its body in base64, and its other members. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const PACKAGE = 'google.cloud.tasks.v2';

const HTTP_STATUS: Partial<Record<status, number>> = {
  [status.INVALID_ARGUMENT]: 400,
  [status.FAILED_PRECONDITION]: 400,
  [status.PERMISSION_DENIED]: 403,
  [status.NOT_FOUND]: 404,
  [status.ALREADY_EXISTS]: 409,
  [status.UNIMPLEMENTED]: 501,
};

export function tasksHttpServer(options: TasksHttpOptions): Server {
  const server = createServer((request, response) => {
    const send = (code: number, body: unknown) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    answer(request, options).then(
      (body) => send(200, body),
      (error: unknown) => {
        const { code, message } = refusalOf(error);
        const httpStatus = HTTP_STATUS[code] ?? 500;
        send(httpStatus, { error: { code: httpStatus, message, status: status[code] } });
      },
    );
  });
  answerUnreadable(server);
  return server;
}

async function answer(request: IncomingMessage, options: TasksHttpOptions): Promise<unknown> {
  const refused = refusedCaller(request.headers, 'no pages');
  if (refused !== undefined) throw new GrpcRefusal(status.PERMISSION_DENIED, refused);
  const { pathname } = new URL(request.url ?? '/', 'http://tasks');
  const [, parent, queue = '', task] = PATH.exec(pathname) ?? [];
  if (parent !== undefined && request.method === 'DELETE' && task !== undefined) {
    return options.deleteTask({ name: `${parent}/tasks/${task}` });
  }
  if (parent === undefined || request.method !== 'POST' || task !== undefined) {
    throw new GrpcRefusal(status.NOT_FOUND, `nothing is served at ${request.method} ${pathname}`);
  }
  const type = options.protocol.lookupType(`${PACKAGE}.CreateTaskRequest`);
  const message = fromJson(type, await bodyOf(request)) as { task?: { httpRequest?: { url?: string } } };
  const http = message.task?.httpRequest;
  if (http && !http.url) http.url = options.functionUrl(queue);
  const created = options.createTask(type.fromObject({ ...message, parent }) as never);
  const taskType = options.protocol.lookupType(`${PACKAGE}.Task`);
  return toJson(taskType, taskType.fromObject(created));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw invalid(`A request has at most ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw invalid(`The body is not JSON: ${(error as Error).message}`);
  }
}

function refusalOf(error: unknown): GrpcRefusal {
  if (error instanceof GrpcRefusal) return error;
  if (error instanceof JsonShapeError) return invalid(error.message);
  return new GrpcRefusal(status.INTERNAL, `Local Cloud Tasks server: ${String(error)}`);
}
