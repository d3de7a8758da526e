/**
 * The control port: what a test or a benchmark asks of the local cloud that production has no call for. JSON over
 * HTTP on loopback; bad input is a 4xx problem document. Owns routes and their answers, none of what they report.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ControlError, type Route } from './route.ts';

/** Largest control request; the biggest real one is a list of fault rules. */
const MAX_BODY_BYTES = 1024 * 1024;

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
        const status = error instanceof ControlError ? error.status : 500;
        const detail = error instanceof Error ? error.message : String(error);
        send(response, status, 'application/problem+json', {
          status,
          title: TITLES[status] ?? 'Error',
          detail,
        });
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
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
};

async function answer(routes: readonly Route[], request: IncomingMessage): Promise<unknown> {
  // Any page open in a browser on this machine can send requests here; scripts send no origin.
  if (request.headers.origin !== undefined)
    throw new ControlError(403, 'web pages may not use the control port');
  const { pathname } = new URL(request.url ?? '/', 'http://control');
  const onPath = routes.flatMap((route) => {
    const match = route.path.exec(pathname);
    return match ? [{ route, match }] : [];
  });
  if (onPath.length === 0) throw new ControlError(404, `the control port serves nothing at ${pathname}`);
  const hit = onPath.find(({ route }) => route.method === request.method);
  if (hit === undefined) {
    const methods = onPath.map(({ route }) => route.method).join(', ');
    throw new ControlError(405, `${pathname} takes ${methods}`);
  }
  const params = (hit.match.groups ?? {}) as Record<string, string>;
  for (const [name, value] of Object.entries(params)) params[name] = decoded(value);
  return hit.route.answer({ params, body: await jsonBody(request) });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ControlError(400, `'${text}' cannot be decoded`);
  }
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new ControlError(413, `a control request has at most ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw new ControlError(400, `the body is not JSON: ${(error as Error).message}`);
  }
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  response.writeHead(status, { 'content-type': type }).end(`${JSON.stringify(body)}\n`);
}
