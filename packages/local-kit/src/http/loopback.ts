/**
 * Decides which callers may use a server that is bound to loopback. The binding excludes other machines but not web pages: any page in a
 * browser on this machine can send requests, by DNS rebinding even under its own host name. `Origin` reveals a page, `Host` a rebound
 * name. Pure.
 */
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** The reason why the request is refused; undefined if it is allowed. `pages`: pages of this machine are allowed. */
export function refusedCaller(
  headers: IncomingHttpHeaders,
  pages: 'local pages' | 'no pages',
): string | undefined {
  const { host, origin } = headers;
  // A client of HTTP/1.0 may send no host; browsers always do.
  if (host !== undefined && !isLoopback(`http://${host}`)) {
    return `the host ${JSON.stringify(host)} is not this machine: use 127.0.0.1 or localhost`;
  }
  if (origin === undefined) return undefined;
  if (pages === 'no pages') return 'web pages are not allowed to use this port';
  return isLoopback(origin)
    ? undefined
    : 'only web pages of this machine (localhost) are allowed to use this port';
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) && (LOOPBACK.has(hostname) || hostname.endsWith('.localhost'));
}
