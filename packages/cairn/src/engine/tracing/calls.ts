/** A call to the outside in a span of its own, which the receiver is told of where it takes that. */
import { traceparentOf } from '../../core/trace.ts';
import { failureOf, type SpanOptions, type Tracer } from '../../ports/telemetry/tracing.ts';

/** Trace context that a binding may pass to the receiver. */
export interface Traced {
  readonly traceparent?: string;
}

/** Calls at once where nobody collects traces. @throws what the call throws */
export async function traced<T>(
  tracer: Tracer | undefined,
  options: SpanOptions,
  call: (more: Traced) => Promise<T>,
): Promise<T> {
  if (!tracer) return call({});
  const span = tracer.open(options);
  try {
    const answer = await call({ traceparent: traceparentOf(span.context) });
    span.end();
    return answer;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}
