/**
 * Makes a span of ours the parent of spans that the instrumentation of a user opens. OpenTelemetry's API is loaded only
 * where an instrumentation has registered itself: it takes 30 ms of a cold start.
 */
import type { TraceContext } from '../../core/trace.ts';

/** Key of the global in which every copy of OpenTelemetry's API, version 1, registers. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

export function withActiveSpan<T>(span: TraceContext, work: () => Promise<T>): Promise<T> {
  return REGISTERED in globalThis ? activated(span, work) : work();
}

async function activated<T>({ traceId, spanId, sampled }: TraceContext, work: () => Promise<T>): Promise<T> {
  const { context, trace, TraceFlags } = await import('@opentelemetry/api');
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return context.with(trace.setSpanContext(context.active(), { traceId, spanId, traceFlags }), work);
}
