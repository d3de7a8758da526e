/** The caller's trace, so that a run appears in it. */
import { parseTraceparent, type TraceContext } from '../core/trace.ts';

/** The span that a request is part of (W3C `traceparent`); undefined if there is none or it is not valid. */
export function traceOf(headers: Headers): TraceContext | undefined {
  return parseTraceparent(headers.get('traceparent'));
}
