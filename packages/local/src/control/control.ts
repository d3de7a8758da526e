/**
 * The control port: calls for tests and benchmarks that production does not have, as JSON over HTTP on loopback. Invalid input
 * gets a 4xx problem document.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExportFileError } from '@cairn/local-firestore/server';
import { type BodyRefusals, jsonBody } from '@cairn/local-kit/http/json-body';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { listenOnLoopback } from '@cairn/local-kit/http/listen';
import { refusedCaller } from '@cairn/local-kit/http/loopback';
import { createServer } from '@cairn/local-kit/http/node-http';
import { StorageFullError } from '@cairn/local-kit/sqlite/storage-full';

/** Largest control request, a list of fault rules. */
const MAX_BODY_BYTES = 1024 * 1024;

interface ControlRequest {
  /** Named groups of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Matches the whole path. */
  readonly path: RegExp;
  /** Returns the response as JSON. @throws ControlError for an invalid request */
  answer(request: ControlRequest): unknown;
}

export class ControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}

export interface ControlPort {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startControlPort(options: {
  port: number;
  routes: readonly Route[];
}): Promise<ControlPort> {
  const server = createServer((request, response) => {
    answer(options.routes, request).then(
      (body) => send(response, 200, 'application/json', body ?? {}),
      (error: unknown) => {
        const status = statusOf(error);
        const detail = error instanceof Error ? error.message : String(error);
        send(response, status, 'application/problem+json', {
          status,
          title: TITLES[status] ?? 'Error',
          detail,
        });
      },
    );
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listenOnLoopback(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function statusOf(error: unknown): number {
  if (error instanceof StorageFullError) return 503;
  if (error instanceof ExportFileError) return 400;
  return error instanceof ControlError ? error.status : 500;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

async function answer(routes: readonly Route[], request: IncomingMessage): Promise<unknown> {
  const refused = refusedCaller(request.headers, 'no pages');
  if (refused !== undefined) throw new ControlError(403, refused);
  const { pathname } = new URL(request.url ?? '/', 'http://control');
  const onPath = routes.flatMap((route) => {
    const match = route.path.exec(pathname);
    return match ? [{ route, match }] : [];
  });
  if (onPath.length === 0) throw new ControlError(404, `the control port serves nothing at ${pathname}`);
  const hit = onPath.find(({ route }) => route.method === request.method);
  if (hit === undefined) {
    const methods = onPath.map(({ route }) => route.method).join(', ');
    throw new ControlError(405, `${pathname} supports ${methods}`);
  }
  const params = (hit.match.groups ?? {}) as Record<string, string>;
  for (const [name, value] of Object.entries(params)) params[name] = decoded(value);
  return hit.route.answer({ params, body: await jsonBody(request, BODY) });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ControlError(400, `'${text}' cannot be decoded`);
  }
}

const BODY: BodyRefusals = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => new ControlError(413, `a control request must have at most ${MAX_BODY_BYTES} bytes`),
  malformed: (why) => new ControlError(400, `the body is not JSON: ${why}`),
};

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  response.writeHead(status, { 'content-type': type }).end(`${JSON.stringify(body)}\n`);
}
