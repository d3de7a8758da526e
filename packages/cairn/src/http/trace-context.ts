/** The caller's trace, so that a run appears in it. */
import { parseTraceparent, type TraceContext } from '../core/trace.ts';

/** The span of the caller (W3C `traceparent`); undefined if the header is missing or invalid. */
export function requestTrace(headers: Headers): TraceContext | undefined {
  return parseTraceparent(headers.get('traceparent'));
}
