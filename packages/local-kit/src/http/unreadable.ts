/**
 * Answers invalid HTTP requests, and those whose head exceeds Node's limit (16 KiB), with a reason, because Node would send an empty
 * body.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from './node-http.ts';
import { refusalOf, refuse } from './problem.ts';

interface Unreadable {
  readonly status: number;
  readonly detail: string;
  /** Default: the help of the status. */
  readonly help?: string;
}

const MALFORMED: Unreadable = {
  status: 400,
  detail: 'the request is not valid HTTP',
  help: 'Send a complete request that is valid HTTP.',
};
const TUNNEL: Unreadable = {
  status: 400,
  detail: 'this server is not a proxy and opens no tunnel (CONNECT)',
  help: 'Send the request to this server itself.',
};
const UNREADABLE: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: 'the first line and the headers are larger than 16384 bytes',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    detail: 'the request did not arrive in time',
    help: 'Send the request again, as a whole.',
  },
};

/**
 * Call it when the server is created. A request with a malformed body gets an answer if its response has not begun. Other connections
 * with a response in progress are cut, because the client could not tell to which request the answer belongs.
 */
export function answerUnreadable(server: Server): void {
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set();
    open.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  server.on('connect', (_request, socket) => end(socket, TUNNEL));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const [response, ...others] = open.get(socket) ?? [];
    const unreadable = UNREADABLE[error.code ?? ''] ?? MALFORMED;
    if (socket.writable && response && !response.headersSent && others.length === 0) {
      response.shouldKeepAlive = false;
      refuse(response, unreadable.status, unreadable.detail, unreadable);
      return;
    }
    if (!socket.writable || response) {
      socket.destroy();
      return;
    }
    end(socket, unreadable);
  });
}

function end(socket: Duplex, { status, detail, ...more }: Unreadable): void {
  const { headers, body } = refusalOf(status, detail, more);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
