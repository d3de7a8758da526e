/**
 * Gives a function the request and response of Cloud Functions: Express's, with the body parsed by content type and its bytes
 * in `rawBody`. Owns only the reading of bodies.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { refuse } from '@cairn/local-kit/http/problem';
import express, { type ErrorRequestHandler } from 'express';
import type { FunctionHandler } from './function-spec.ts';
import { MAX_BODY_BYTES } from './request-shape.ts';
import { answerUncaught } from './uncaught.ts';

/** Express with the body parsers of Cloud Functions; passes each request to `handle`. */
export function requestApp(handle: FunctionHandler): RequestListener {
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
    // Without a body, an empty object as in Express 4, which Cloud Functions runs.
    request.body ??= {};
    next();
  });
  app.use(bodyProblem);
  app.use(async (request, response) => {
    await handle(request, response);
  });
  app.use(uncaught);
  return app;
}

interface ReadRequest extends IncomingMessage {
  rawBody?: Buffer;
  _body?: boolean;
}

/**
 * Also sets the mark of Express 4, as Cloud Functions does. Without it, a function's own `express.json()` of that version would read the
 * stream a second time and fail.
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

/** Express recognizes an error handler by its four parameters. */
const uncaught: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  answerUncaught(error, response);
};
