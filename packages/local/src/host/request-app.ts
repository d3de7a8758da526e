/**
 * Gives a function the request and response Cloud Functions would: Express's, with the body parsed by content
 * type and its bytes in `rawBody`. Owns how bodies are read, nothing of what functions do.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { refuse } from '@cairn/local-kit/http/problem';
import express, { type ErrorRequestHandler } from 'express';
import type { FunctionHandler } from './function-spec.ts';
import { MAX_BODY_BYTES, splitPath } from './request-shape.ts';
import { answerUncaught } from './uncaught.ts';

/** Twice what the front reads: what it adds to a request that it took must not make that one too large. */
const MAX_HEAD_BYTES = 32 * 1024;

/**
 * Serves `/{function name}/{path}`; the function sees `/{path}`, as it does behind its own URL.
 *
 * @param now epoch ms: what answers are dated with
 */
export function functionsServer(handlers: ReadonlyMap<string, FunctionHandler>, now: () => number): Server {
  const targets = new WeakMap<IncomingMessage, FunctionHandler>();
  const app = express();
  app.disable('x-powered-by');
  app.enable('trust proxy');
  const options = { limit: MAX_BODY_BYTES, verify: keepRawBody };
  app.use(
    express.json({ ...options, type: ['application/json', 'application/*+json'] }),
    express.text(options),
    express.urlencoded({ ...options, extended: true }),
    express.raw({ ...options, type: () => true }),
  );
  app.use((request, _response, next) => {
    // A request without a body has an empty object there, as with the Express 4 that Cloud Functions runs.
    request.body ??= {};
    next();
  });
  app.use(bodyProblem);
  app.use(async (request, response) => {
    await targets.get(request)?.(request, response);
  });
  app.use(uncaught);

  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
    const { name, rest } = splitPath(request.url ?? '/');
    const handler = handlers.get(name);
    if (handler === undefined) return notFound(response, name);
    request.url = rest;
    // Node would tell the machine's time: clients take the age of what they are shown from this header.
    response.setHeader('date', new Date(now()).toUTCString());
    targets.set(request, handler);
    app(request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Long functions are bounded by their own timeout in the front, not by the socket.
  server.requestTimeout = 0;
  return server;
}

interface ReadRequest extends IncomingMessage {
  rawBody?: Buffer;
  _body?: boolean;
}

/**
 * Also sets the mark of Express 4, as Cloud Functions does: the `express.json()` of a function with that version would read the stream a
 * second time without it, and fail.
 */
function keepRawBody(request: ReadRequest, _response: ServerResponse, body: Buffer): void {
  request.rawBody = body;
  request._body = true;
}

/**
 * Refuses a body that is too large. A body that does not parse reaches the function with `body` undefined and `rawBody`
 * set, so that it can verify a signature first and respond itself; Cloud Functions answers 400 directly.
 */
const bodyProblem: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.parse.failed') {
    request.body = undefined;
    next();
    return;
  }
  const known = status === 413 || status === 415 ? status : 400;
  refuse(response, known, DETAILS[known], known === 415 ? ENCODING : {});
};

const DETAILS = {
  400: 'the body cannot be read: it is incomplete, or does not match its Content-Encoding',
  413: `the body is larger than ${MAX_BODY_BYTES} bytes`,
  415: 'the content encoding is not supported',
} as const;
const ENCODING = { field: 'Content-Encoding', help: 'Send the body unencoded, or with gzip, deflate or br.' };

/** Express needs four parameters to see an error handler. */
const uncaught: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  answerUncaught(error, response);
};

function notFound(response: ServerResponse, name: string): void {
  refuse(response, 404, `no function named '${name}'`);
}
