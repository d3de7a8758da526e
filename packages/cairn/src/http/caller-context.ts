/** Reads from the headers of a request the calling program, the trace and the correlation id. */
import { correlationId } from '../core/encoding/correlation.ts';
import type { Trigger } from '../core/run/events.ts';
import { parseTraceparent, type TraceContext } from '../core/trace.ts';

const CLIENT_HEADER = 'x-cairn-client';
const CORRELATION_HEADER = 'x-a2a-correlation-id';

/** The kind of program that calls the API. The command line and the console name themselves; all others are `api`. */
export function clientOf(headers: Headers): Trigger['source'] {
  const named = headers.get(CLIENT_HEADER);
  return named === 'cli' || named === 'ui' ? named : 'api';
}

/** The span of the caller (W3C `traceparent`), so that a run appears in its trace; undefined if the header is missing or invalid. */
export function requestTrace(headers: Headers): TraceContext | undefined {
  return parseTraceparent(headers.get('traceparent'));
}

/** Properties that a run takes from the request that starts it, at every endpoint. */
export interface RequestContext {
  readonly trace: TraceContext | undefined;
  readonly a2aCorrelationId?: string | undefined;
}

/** @throws CairnError INVALID_INPUT for an invalid correlation id */
export function contextOf(headers: Headers): RequestContext {
  return {
    trace: requestTrace(headers),
    a2aCorrelationId: correlationId(headers.get(CORRELATION_HEADER) ?? undefined, CORRELATION_HEADER),
  };
}
