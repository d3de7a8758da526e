/**
 * The public port of the local cloud, in place of Firebase Hosting: forwards a path to the function of its rewrite,
 * bytes unchanged, and serves the site's files (site.ts). Owns the data for this machine's browser only: the key in
 * `/console.json`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { drainable } from '@cairn/local-kit/http/drain';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { createServer } from '@cairn/local-kit/http/node-http';
import { answerExpectations, refuse } from '@cairn/local-kit/http/problem';
import { readTarget } from '@cairn/local-kit/http/target';
import { answerUnreadable } from '@cairn/local-kit/http/unreadable';
import { collectWhenIdle } from '../idle-gc.ts';
import type { Rewrite } from './rewrites.ts';
import { isReading, type Site } from './site.ts';
import { SHOWN_PATH_CHARS, type Unserved } from './unserved.ts';

export interface GatewayOptions {
  /** 0: a free port. */
  readonly port: number;
  /** Called for each request, because a reload changes the functions. */
  rewrites(): readonly Rewrite[];
  /** Answers the request by a function. */
  serve(functionName: string, request: IncomingMessage, response: ServerResponse): void;
  /** Time of the cloud for the `Date` header, epoch ms. */
  now(): number;
  /** Reason why nothing here serves a path that is not the site's; undefined for other paths. */
  unserved?(path: string): Unserved | undefined;
  /** Undefined: there are no files to serve. */
  readonly site?: Site | undefined;
  /** JSON for the local console only, which opens without asking for a key. Absent: none. */
  consoleJson?(): string;
  /** The page at `/`, as HTML, if there is no site. */
  welcome?(): string;
  /** Returns unused memory of this process to the system; called when idle. Absent: another component owns the process. */
  readonly collect?: (() => void) | undefined;
  /** Number of requests so far that this process passed on without this port. */
  readonly passedOn?: (() => number) | undefined;
}

export interface Gateway {
  readonly url: string;
  /** Accepts no new connections, lets current requests finish and cuts them after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** @throws the listen error, `EADDRINUSE` if the port is taken. */
export async function startGateway({
  port,
  rewrites,
  unserved,
  site,
  now,
  serve,
  consoleJson,
  welcome,
  collect,
  passedOn,
}: GatewayOptions): Promise<Gateway> {
  // Node would refuse a request without a host, but give no reason.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    response.setHeader('date', new Date(now()).toUTCString());
    if (isHostless(request))
      return refuse(response, 400, 'the request has no Host header', { field: 'Host' });
    readTarget(request);
    const path = pathOf(request);
    const isFile = path !== undefined && isReading(request) && site?.has(path) === true;
    const rewrite =
      path === undefined || isFile ? undefined : rewrites().find((candidate) => candidate.matches(path));
    const missing = path === undefined || isFile || rewrite ? undefined : unserved?.(path);
    if (path === undefined) refuse(response, 400, 'the path is not percent-encoded UTF-8', { field: 'path' });
    else if (rewrite) {
      const { host } = request.headers;
      // HTTP/1.0 does not require a host.
      if (host !== undefined) request.headers['x-forwarded-host'] ??= host;
      serve(rewrite.functionName, request, response);
    } else if (missing) {
      // A problem document, not the site's error page, because programs call these paths.
      refuse(response, 404, missing.detail, { help: missing.help });
    } else if (path === '/console.json' && consoleJson && isReading(request)) {
      if (!isOwnPage(request)) refuse(response, 403, 'only pages of this address may use it');
      else response.writeHead(200, JSON_HEADERS).end(consoleJson());
    } else if (site?.serve(path, request, response)) {
      return;
    } else if (path === '/' && welcome && isReading(request)) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(welcome());
    } else if (!site?.miss(path, request, response))
      refuse(response, 404, `nothing is served at ${path.slice(0, SHOWN_PATH_CHARS)}`);
  });
  if (collect) collectWhenIdle(server, { collect, passedOn });
  answerUnreadable(server);
  answerExpectations(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // The function's timeout, enforced behind this port, limits the response time.
  server.requestTimeout = 0;
  const listening = await listenOnLoopback(server, port);
  return {
    url: `http://127.0.0.1:${listening}`,
    stop: drainable(server),
  };
}

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/**
 * The key grants full access, so no other page of the browser may read it: neither across origins, which the browser
 * reports, nor under a name that resolves to this machine.
 */
function isOwnPage({ headers }: IncomingMessage): boolean {
  const from = headers['sec-fetch-site'];
  return (
    LOOPBACK.test(headers.host ?? '') && (from === undefined || from === 'same-origin' || from === 'none')
  );
}

/** HTTP/1.1 requires a host; earlier versions do not have the header. */
function isHostless({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

/** The decoded path without query, or undefined if it cannot be decoded. */
function pathOf(request: IncomingMessage): string | undefined {
  const url = request.url ?? '/';
  // Raw bytes that the client should have encoded; the HTTP client would refuse to pass them on.
  if (/[^\x21-\x7e]/.test(url)) return undefined;
  const [path = '/'] = url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
