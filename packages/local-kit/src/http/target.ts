/** The target in the request line. */
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/([^/?]+)(.*)$/is;

/**
 * Normalizes an absolute URL in the request line, which clients send to a proxy: keeps path and query in `url`, and replaces the host
 * header (RFC 9112, 3.2.2).
 */
export function readTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}
