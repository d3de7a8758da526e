/**
 * Firestore over HTTP/1.1: REST v1, web channels and the official emulator's own routes. A REST request is converted to the bytes of the
 * gRPC request, so that both get the same answer. Refuses foreign web pages and answers those of this machine with CORS.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { createServer } from '@cairn/local-kit/http/node-http';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import { jsonCall } from '@cairn/local-kit/rest/json-call';
import { restRequest } from '@cairn/local-kit/rest/rest-request';
import { bindingsOf, type RestCall, type RestRequest, restCall } from '@cairn/local-kit/rest/routes';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { Code, StatusError, unimplemented } from '../model/status.ts';
import type { CallContext } from '../service/calls/call.ts';
import { notImplemented, servedCall } from '../service/served-calls.ts';
import { BODY } from './body.ts';
import { errorBody } from './json-errors.ts';

interface RestOptions {
  /** The described protocol, without opaque types. */
  readonly protocol: protobuf.Service;
  /** The same service as gRPC serves it. */
  readonly service: ServiceDefinition;
  readonly context: CallContext;
  readonly channels: {
    /** Resolves with false if the path is not that of a channel. @throws StatusError */
    serve(url: URL, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  };
  /** Deletes all documents of a project's database. */
  reset(database: string): void;
}

/** Refused, so that no caller believes that its rules allow every access. */
const RULES = /^\/emulator\/v1\/projects\/[^/]+:(securityRules|ruleCoverage(\.html)?)$/;
const RESET = /^\/emulator\/v1\/(projects\/[^/]+\/databases\/[^/]+)\/documents$/;

interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
}

export function restServer(options: RestOptions): Server {
  const bindings = bindingsOf(options.protocol);
  const answer = async (request: IncomingMessage, url: URL): Promise<RestAnswer> => {
    const { pathname } = url;
    const { method = 'GET' } = request;
    // Tools send this request to check that the emulator is up.
    if (method === 'GET' && pathname === '/') return { status: 200, body: 'Ok\n' };
    const reset = RESET.exec(pathname)?.[1];
    if (reset !== undefined && method === 'DELETE') {
      options.reset(decodeURIComponent(reset));
      return { status: 200, body: {} };
    }
    if (RULES.test(pathname))
      throw unimplemented(
        'Security rules are not implemented by the local Firestore server: nobody is refused.',
      );
    const asked = await restRequest(request, url, BODY);
    const path = pathname.replace(/^\/v1beta1\//, '/v1/');
    // If the path is of the other kind, such as in DELETE of a collection, the call refuses it.
    const found = restCall(bindings, { ...asked, path }, isOfKind) ?? restCall(bindings, { ...asked, path });
    if (!found) throw new StatusError(Code.NOT_FOUND, `Nothing is served at ${asked.method} ${pathname}.`);
    return { status: 200, body: await call({ ...found, query: asked.query }, options) };
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://firestore');
    if (await options.channels.serve(url, request, response)) return;
    send(response, await answer(request, url));
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
    serve(request, response).catch((error: unknown) => send(response, errorOf(error)));
  });
  answerUnreadable(server);
  return server;
}

/**
 * `documents/a/b` is a document and `documents/a` a list; both match one pattern of a path of any length. A document's name has
 * an even number of segments below `documents`, as has the parent of a collection.
 */
function isOfKind(call: string, name: string): boolean {
  const below = name.split('/').slice(5).length;
  return below % 2 === 0 || !/^(Get|Update|Delete|Create|List)Document/.test(call);
}

async function call(
  { name, message, query }: RestCall & Pick<RestRequest, 'query'>,
  { protocol, service, context }: RestOptions,
): Promise<unknown> {
  const messages = jsonCall(name, protocol, service);
  const served = servedCall(name);
  if (!served || !messages) throw notImplemented(name);
  const request = messages.request(message);
  const inJson = messages.answersIn(query);
  if (served.kind === 'unary') return inJson(await served.answer(request, context));
  const answers: unknown[] = [];
  try {
    for (const one of await served.answer(request, context)) answers.push(inJson(one));
  } catch (error) {
    throw new StreamError(error);
  }
  return answers;
}

/** Error of a call with a list response, sent in a list. */
class StreamError extends Error {
  constructor(cause: unknown) {
    super('The stream failed.', { cause });
  }
}

function errorOf(thrown: unknown): RestAnswer {
  const body = errorBody(thrown instanceof StreamError ? thrown.cause : thrown);
  return { status: body.error.code, body: thrown instanceof StreamError ? [body] : body };
}

function send(response: ServerResponse, { status, body }: RestAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json; charset=utf-8';
  // Closes the connection after an error, because the unread rest of a body would be parsed as the next request.
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
  response.setHeader('access-control-expose-headers', 'x-client-wire-protocol, x-http-session-id');
  response.setHeader('access-control-allow-methods', 'GET, POST, PATCH, DELETE, OPTIONS');
  const requestedHeaders = headers['access-control-request-headers'];
  if (requestedHeaders !== undefined) response.setHeader('access-control-allow-headers', requestedHeaders);
}
