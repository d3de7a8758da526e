/**
 * Span of an HTTP request. It replaces the request's `traceparent`, so that endpoints treat it like that of any
 * caller.
 *
 * Must not: record a path or a query, which may contain secrets, or any other header.
 */

import { traceparentOf } from '../../core/trace.ts';
import { requestTrace } from '../../http/caller-context.ts';
import type { Span, Tracer } from '../../ports/tracing.ts';

/** Not traced, because monitoring polls them every few seconds. */
const UNTRACED: ReadonlySet<string> = new Set(['/v1/healthz', '/v1/metrics']);
const FIRST_SERVER_ERROR = 500;

export type RequestHandler = (request: Request, span?: Span) => Response | Promise<Response>;

/** @param route of an endpoint with only one; the API sets its own (`http.route`) */
export function tracedHandler(
  tracer: Tracer | undefined,
  handle: RequestHandler,
  route?: string,
): RequestHandler {
  if (!tracer) return handle;
  return async (request) => {
    const { method, headers } = request;
    if (UNTRACED.has(new URL(request.url).pathname)) return handle(request);
    const span = tracer.open({
      name: route === undefined ? method : `${method} ${route}`,
      kind: 'server',
      parent: requestTrace(headers),
      attributes: { 'http.request.method': method, 'http.route': route, 'faas.trigger': 'http' },
    });
    headers.set('traceparent', traceparentOf(span.context));
    try {
      const response = await handle(request, span);
      const { status } = response;
      span.set({ 'http.response.status_code': status });
      span.end(status >= FIRST_SERVER_ERROR ? String(status) : undefined);
      return response;
    } catch (error) {
      span.end('INTERNAL');
      throw error;
    }
  };
}
