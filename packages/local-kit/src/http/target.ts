/** The target in the request line. */
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/([^/?]+)(.*)$/is;

/**
 * Brings a whole address in the request line, as a client sends it that takes the server for a proxy, into the usual form: path and query
 * in `url`, and its host in place of the header's (RFC 9112, 3.2.2).
 */
export function readTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}
