/**
 * Answers what is no HTTP request, or one whose head is larger than Node reads (16 KiB): Node would do so with an empty
 * body, which tells a person nothing.
 */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalOf } from './problem.ts';

interface Unreadable {
  readonly status: number;
  readonly detail: string;
}

const MALFORMED: Unreadable = { status: 400, detail: 'the request is not valid HTTP' };
const UNREADABLE: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: 'the first line and the headers are larger than 16384 bytes',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request did not arrive in time' },
};

/** Call it when the server is created. A connection with a response in progress is cut instead. */
export function answerUnreadable(server: Server): void {
  const busy = new WeakSet<Duplex>();
  server.on('request', ({ socket }, response) => {
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || busy.has(socket)) {
      socket.destroy();
      return;
    }
    const { status, detail } = UNREADABLE[error.code ?? ''] ?? MALFORMED;
    const { headers, body } = refusalOf(status, detail);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
