/**
 * Firestore over HTTP/1.1: REST v1 and the routes that only the official emulator has. A request is converted to the bytes of
 * the gRPC request and handled the same way, so both answer alike. Refuses foreign web pages; those of this
 * machine are answered with CORS.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type BodyRefusals, jsonBody } from '@cairn/local-kit/http/json-body';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { createServer } from '@cairn/local-kit/http/node-http';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import { fromJson, JsonShapeError, toJson } from '@cairn/local-kit/wire/proto-json';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { MAX_REQUEST_BYTES } from '../model/limits.ts';
import { Code, invalid, StatusError } from '../model/status.ts';
import type { CallContext } from '../service/calls/call.ts';
import { toStatus } from '../service/calls/grpc-outcome.ts';
import { notImplemented, servedCall } from '../service/served-calls.ts';
import { bindingsOf, restCall } from './routes.ts';

interface RestOptions {
  /** The described protocol, without opaque types. */
  readonly protocol: protobuf.Service;
  /** The same service as gRPC serves it. */
  readonly service: ServiceDefinition;
  readonly context: CallContext;
  /** Deletes all documents of a project's database. */
  reset(database: string): void;
}

/** JSON is larger than the encoding (bytes by a third, small numbers more), which is limited afterwards. */
const MAX_BODY_BYTES = 4 * MAX_REQUEST_BYTES;
const RESET = /^\/emulator\/v1\/(projects\/[^/]+\/databases\/[^/]+)\/documents$/;

interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
}

export function restServer(options: RestOptions): Server {
  const bindings = bindingsOf(options.protocol);
  const answer = async (request: IncomingMessage): Promise<RestAnswer> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://firestore');
    const { method = 'GET' } = request;
    // Tools send this request to learn whether the emulator is up.
    if (method === 'GET' && pathname === '/') return { status: 200, body: 'Ok\n' };
    const reset = RESET.exec(pathname)?.[1];
    if (reset !== undefined && method === 'DELETE') {
      options.reset(decodeURIComponent(reset));
      return { status: 200, body: {} };
    }
    const body = await jsonBody(request, BODY);
    const found = restCall(bindings, { method, path: pathname, query, body });
    if (!found) throw new StatusError(Code.NOT_FOUND, `Nothing is served at ${method} ${pathname}.`);
    return { status: 200, body: await call(found.name, found.message, options) };
  };
  const server = createServer((request, response) => {
    const refused = refusedCaller(request.headers, 'local pages');
    if (refused !== undefined) {
      send(response, errorOf(new StatusError(Code.PERMISSION_DENIED, refused)));
      return;
    }
    allowPage(request, response);
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    answer(request).then(
      (answer) => send(response, answer),
      (error: unknown) => send(response, errorOf(error)),
    );
  });
  answerUnreadable(server);
  return server;
}

async function call(
  name: string,
  message: object,
  { protocol, service, context }: RestOptions,
): Promise<unknown> {
  const method = protocol.methods[name] as protobuf.Method;
  const definition = service[name];
  const served = servedCall(name);
  if (!served || !definition) throw notImplemented(name);
  const requestType = method.resolvedRequestType as protobuf.Type;
  const responseType = method.resolvedResponseType as protobuf.Type;
  const bytes = requestType.encode(requestType.fromObject(fromJson(requestType, message))).finish();
  const request = definition.requestDeserialize(Buffer.from(bytes)) as object;
  const jsonOf = (one: object) =>
    toJson(responseType, responseType.decode(definition.responseSerialize(one)));
  if (served.kind === 'unary') return jsonOf(await served.answer(request, context));
  const messages: unknown[] = [];
  try {
    for (const one of await served.answer(request, context)) messages.push(jsonOf(one));
  } catch (error) {
    throw new StreamError(error);
  }
  return messages;
}

/** Error of a call with a list response, sent in a list. */
class StreamError extends Error {
  constructor(cause: unknown) {
    super('The stream failed.', { cause });
  }
}

const BODY: BodyRefusals = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => invalid(`Request payload size exceeds the limit: ${MAX_BODY_BYTES} bytes.`),
  malformed: (why) => invalid(`Invalid JSON payload received: ${why}`),
};

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

function errorOf(thrown: unknown): RestAnswer {
  if (thrown instanceof StreamError) {
    const { status, body } = errorOf(thrown.cause);
    return { status, body: [body] };
  }
  const { code, details } = toStatus(thrown instanceof JsonShapeError ? invalid(thrown.message) : thrown);
  const status = HTTP_STATUS[code] ?? 500;
  return {
    status,
    body: { error: { code: status, message: details, status: NAMES.get(code) ?? 'UNKNOWN' } },
  };
}

function send(response: ServerResponse, { status, body }: RestAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json; charset=utf-8';
  // The rest of a body that was refused unread would be taken for the next request.
  response.writeHead(status, {
    'content-type': type,
    ...(response.req.complete ? {} : { connection: 'close' }),
  });
  response.end(text);
}

function allowPage({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined) return;
  response.setHeader('access-control-allow-origin', headers.origin);
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-allow-methods', 'GET, POST, PATCH, DELETE, OPTIONS');
  const requestedHeaders = headers['access-control-request-headers'];
  if (requestedHeaders !== undefined) response.setHeader('access-control-allow-headers', requestedHeaders);
}
