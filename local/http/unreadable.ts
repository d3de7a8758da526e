/**
 * Answers what is no HTTP request, or one whose head is larger than Node reads (16 KiB): Node would do so with an empty
 * body, which tells a person nothing.
 */
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

interface Refusal {
  readonly status: string;
  readonly code: string;
  readonly detail: string;
}

const MALFORMED: Refusal = {
  status: '400 Bad Request',
  code: 'INVALID_INPUT',
  detail: 'the request is not one of HTTP',
};
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'HEADERS_TOO_LARGE',
    detail: 'the first line and the headers are larger than 16384 bytes',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'INVALID_INPUT',
    detail: 'the request did not arrive in time',
  },
};

/** Call it when the server is made. A connection on which an answer is under way is cut instead. */
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
    const { status, code, detail } = REFUSALS[error.code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ title: status.slice(4), status: Number(status.slice(0, 3)), detail, code });
    const head = [
      `HTTP/1.1 ${status}`,
      'content-type: application/problem+json',
      `content-length: ${body.length}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
