/** Attributes of the request span that are known once the run is known. */
import { isRunId } from '../core/encoding/ids.ts';
import type { Span } from '../ports/tracing.ts';

/** @param route as it is registered; ends in `*` where no resource was found */
export function nameSpan(span: Span, { method, url }: Request, route: string): void {
  if (route.endsWith('*')) return;
  const path = route.replace(/:(\w+)/g, '{$1}');
  span.rename(`${method} ${path}`);
  const [, runId = ''] = /^\/v1\/runs\/([^/]+)/.exec(new URL(url).pathname) ?? [];
  span.set({ 'http.route': path, 'cairn.run.id': isRunId(runId) ? runId : undefined });
}
