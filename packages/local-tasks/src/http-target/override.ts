/** Applies the queue's overrides to the target of a task. Pure. */
import { METHODS_WITH_BODY, type TaskTarget } from '../model.ts';
import type { HttpTarget, UriOverride } from './model.ts';

/** Tasks for App Engine are not changed. */
export function overriddenTarget(target: TaskTarget, override: HttpTarget | undefined): TaskTarget {
  if (!override || target.appEngine) return target;
  const { uri, method = target.method, headers, oidc, oauth } = override;
  const replaced = new Set(headers.map(({ key }) => key.toLowerCase()));
  const kept = Object.entries(target.headers).filter(([name]) => !replaced.has(name.toLowerCase()));
  const own = headers.map(({ key, value }) => [key, value] as const);
  return {
    ...target,
    url: uri ? overriddenUrl(target.url, uri) : target.url,
    method,
    headers: Object.fromEntries([...kept, ...own]),
    body: METHODS_WITH_BODY.includes(method) ? target.body : new Uint8Array(),
    ...((oidc ?? oauth) && { oidc, oauth }),
  };
}

/** The URL for a task without one, from the queue alone. Undefined if the queue names no host. */
export function urlOfQueue(override: HttpTarget | undefined): string | undefined {
  const uri = override?.uri;
  if (!uri?.host) return undefined;
  const scheme = uri.scheme === 'http' ? 'http' : 'https';
  return overriddenUrl(`${scheme}://${uri.host}`, { ...uri, isFallback: false });
}

export function overriddenUrl(text: string, override: UriOverride): string {
  const url = new URL(text);
  const { scheme, host, port, path, query, isFallback } = override;
  // A URL always has a scheme and a host.
  if (!isFallback) {
    if (scheme !== undefined) url.protocol = scheme === 'http' ? 'http:' : 'https:';
    if (host !== undefined) url.hostname = host;
  }
  if (port !== undefined && !(isFallback && url.port !== '')) url.port = port === 0 ? '' : String(port);
  if (path !== undefined && !(isFallback && url.pathname !== '/')) url.pathname = path;
  if (query !== undefined && !(isFallback && url.search !== '')) url.search = query;
  return url.href;
}
