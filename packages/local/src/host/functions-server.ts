/**
 * The HTTP server of a worker, for requests that are not sent by frames (`link/`). Loads Express for the first request, because loading
 * it takes a sixth of the CPU time of a worker's start, and most workers get no such request.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { createServer } from '@cairn/local-kit/http/node-http';
import { refuse } from '@cairn/local-kit/http/problem';
import type { FunctionHandler } from './function-spec.ts';
import { splitPath } from './request-shape.ts';
import { answerUncaught } from './uncaught.ts';

/** Twice the limit of the front, which adds headers to accepted requests. */
const MAX_HEAD_BYTES = 32 * 1024;

/**
 * Serves `/{function name}/{path}`; the function sees `/{path}`, as it does behind its own URL.
 *
 * @param now time for the `Date` header, epoch ms
 */
export function functionsServer(handlers: ReadonlyMap<string, FunctionHandler>, now: () => number): Server {
  const targets = new WeakMap<IncomingMessage, FunctionHandler>();
  let app: Promise<RequestListener> | undefined;
  const loadApp = async () => {
    const { requestApp } = await import('./request-app.ts');
    return requestApp((request, response) => targets.get(request as IncomingMessage)?.(request, response));
  };
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
    const { name, rest } = splitPath(request.url ?? '/');
    const handler = handlers.get(name);
    if (handler === undefined) return notFound(response, name);
    request.url = rest;
    // Not the machine's time, because clients compute ages from this header.
    response.setHeader('date', new Date(now()).toUTCString());
    targets.set(request, handler);
    app ??= loadApp();
    app.then(
      (serve) => serve(request, response),
      (error) => answerUncaught(error, response),
    );
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // The front enforces the timeout of each function, so the socket needs none.
  server.requestTimeout = 0;
  return server;
}

function notFound(response: ServerResponse, name: string): void {
  refuse(response, 404, `no function named '${name}'`);
}
