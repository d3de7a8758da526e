/**
 * HTTP server of a stand-in for an external service, on loopback. Owns listening, faults and the log of calls; its routes are
 * given.
 *
 * Must not: know its callers. It outlives the workers, so its counts show the applied calls.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Faults } from '@cairn/local-firestore/faults';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { createServer } from '@cairn/local-kit/http/node-http';
import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import { StorageFullError } from '@cairn/local-kit/sqlite/storage-full';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import type { RateLimitFault, StandInFault } from './faults.ts';
import { type Matched, matcher, type StandInReply, type StandInRoute } from './route.ts';
import { type RecordedCall, StandInStore } from './store.ts';

interface StandInOptions {
  readonly storage: StorageChoice;
  readonly clock: ServerClock;
  readonly routes: readonly StandInRoute[];
  /** Response to an unknown path. */
  readonly unknown: StandInReply;
  /** The answer for a caller without permission; undefined: the call is allowed. */
  readonly refusal?: (matched: Matched, authorization: string | undefined) => StandInReply | undefined;
  /** On every answer. */
  readonly headers?: (now: number) => Readonly<Record<string, string>>;
  /** 0 or absent: any free one. */
  readonly port?: number;
}

export interface StandInServer {
  readonly url: string;
  /** Injected faults; none at first. `call` of a rule is the name of a route. */
  readonly faults: Faults<StandInFault>;
  /** The newest calls, the oldest of them first. */
  calls(): readonly RecordedCall[];
  /** Number of times each marked call was applied. */
  applied(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** Larger than any request of the real services. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Most calls returned at once; the rest stays in the database. */
const MAX_CALLS = 10_000;
const MARKER = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;
const CALLS_PATH = '/__calls';

export async function startStandInServer(options: StandInOptions): Promise<StandInServer> {
  const store = new StandInStore(options.storage);
  const faults = new Faults<StandInFault>();
  const calls = () => store.calls(MAX_CALLS);
  const applied = () => store.applied(MAX_CALLS);
  const exchange = exchanger({ ...options, store, faults, match: matcher(options.routes), calls, applied });
  const server = createServer((request, response) => {
    exchange(request, response).catch((error: unknown) => {
      const status = error instanceof StorageFullError ? 503 : 500;
      send(response, { status, body: { message: String(error) } });
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listenOnLoopback(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    calls,
    applied,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      store.close();
    },
  };
}

type StandInContext = StandInOptions &
  Pick<StandInServer, 'faults' | 'calls' | 'applied'> & {
    readonly store: StandInStore;
    readonly match: ReturnType<typeof matcher>;
  };

function exchanger({ clock, store, faults, match, calls, applied, ...options }: StandInContext) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = urlOf(request.socket.address() as AddressInfo);
    const { pathname, searchParams: query } = new URL(request.url ?? '/', url);
    const method = request.method ?? 'GET';
    const answer = (reply: StandInReply) =>
      send(response, { ...reply, headers: { ...options.headers?.(clock.now()), ...reply.headers } });
    // Any page open in a browser on this machine can send requests here; scripts send no origin.
    if (request.headers.origin !== undefined)
      return answer({ status: 403, body: { message: 'web pages are not allowed to use this stand-in' } });
    const text = await bodyOf(request);
    if (text === undefined) return answer({ status: 413, body: { message: 'the request is too large' } });
    if (method === 'GET' && pathname === CALLS_PATH)
      return answer({ status: 200, body: { calls: calls(), applied: applied() } });
    const matched = match(method, pathname);
    if (!matched) return answer(options.unknown);
    const refused = options.refusal?.(matched, request.headers.authorization);
    if (refused) return answer(refused);
    const body = parsed(text);
    if (body === INVALID) return answer({ status: 400, body: { message: 'Problems parsing JSON' } });

    const { route, params } = matched;
    const marker = MARKER.exec(text)?.[0];
    const fault = faults.draw(route.name, () => [pathname]);
    const note = (status: number, wasApplied: boolean) =>
      store.note({
        at: clock.now(),
        route: route.name,
        path: pathname,
        status,
        applied: wasApplied,
        ...(marker === undefined ? {} : { marker }),
        ...(fault === undefined ? {} : { fault: fault.kind }),
      });
    switch (fault?.kind) {
      case 'latency':
        await new Promise<void>((resolve) => clock.at(clock.now() + fault.ms, resolve));
        break;
      case 'refuse':
        note(fault.status, false);
        return answer({ status: fault.status, body: { message: fault.message ?? 'refused on request' } });
      case 'rate-limit':
        note(fault.status, false);
        return answer(limited(fault, clock.now()));
      case 'cut-before':
      case 'hang-before':
        note(0, false);
        return fault.kind === 'cut-before' ? void request.socket.destroy() : undefined;
    }

    let reply: StandInReply | undefined;
    store.transaction(() => {
      reply = route.answer({ params, query, body, url, now: clock.now() }, store);
      note(reply.status, route.changes && reply.status < 300);
    });
    if (fault?.kind === 'lost-answer') return void request.socket.destroy();
    if (fault?.kind === 'hang-after') return;
    if (fault?.kind === 'fail-after')
      return answer({ status: fault.status, body: { message: 'failed on request' } });
    if (reply) answer(reply);
  };
}

function limited(
  { status, retryAfterS, message = 'API rate limit exceeded' }: RateLimitFault,
  now: number,
): StandInReply {
  const headers =
    retryAfterS === undefined
      ? { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(now / 1000) + 1) }
      : { 'retry-after': String(retryAfterS) };
  return { status, body: { message }, headers };
}

/** Undefined if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const INVALID = Symbol('no JSON');

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return INVALID;
  }
}

function send(response: ServerResponse, { status, body, headers }: StandInReply): void {
  if (response.headersSent) return;
  const text = typeof body === 'string';
  response.writeHead(status, {
    'content-type': text ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    ...headers,
  });
  response.end(status === 204 ? undefined : text ? body : JSON.stringify(body));
}

function urlOf({ port }: AddressInfo): string {
  return `http://127.0.0.1:${port}`;
}
