/** An external call in its own span, whose context is passed to the receiver if it accepts it. */
import { traceparentOf } from '../../core/trace.ts';
import { errorTypeOf, type SpanOptions, type Tracer } from '../../ports/tracing.ts';

/** Trace context that a binding may pass to the receiver. */
interface Traced {
  readonly traceparent?: string;
}

/** Calls directly if no collector is configured. @throws errors of the call */
export async function traced<T>(
  tracer: Tracer | undefined,
  options: SpanOptions,
  call: (more: Traced) => Promise<T>,
): Promise<T> {
  if (!tracer) return call({});
  const span = tracer.open(options);
  try {
    const { context } = span;
    const answer = await tracer.within(context, () => call({ traceparent: traceparentOf(context) }));
    span.end();
    return answer;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}
