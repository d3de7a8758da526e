/**
 * Tracing port. Absent without a collector, so that callers write `tracer?.open(…)` and create nothing in vain.
 * Must not fail or block.
 *
 * Spans leave the installation, so they contain ids, names and outcomes, but never an input, an output, a message or a header.
 */
import { readableThrown } from '../core/thrown.ts';
import type { TraceContext } from '../core/trace.ts';

/** The kinds of OpenTelemetry. `server` answers a request, `client` makes one, `producer` and `consumer` share a queue. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Names follow OpenTelemetry's semantic conventions, or begin with `cairn.` if there is none. Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** Low-cardinality name. */
  readonly name: string;
  readonly kind: SpanKind;
  /** Parent span; absent: a new trace. */
  readonly parent?: TraceContext | undefined;
  /** Ids by which others already know the span; absent: random. */
  readonly self?: TraceContext | undefined;
  /** Epoch ms; absent: now. */
  readonly startedAt?: number | undefined;
  /** Spans that caused this one without being its parent. Undefined ones are omitted. */
  readonly links?: readonly (TraceContext | undefined)[];
  readonly attributes?: SpanAttributes;
}

export interface Span {
  /** Context for child spans, in this process or another; `sampled` is decided. */
  readonly context: TraceContext & { readonly sampled: boolean };
  /** Replaces earlier attributes with these names. Does nothing once the span has ended. */
  set(attributes: SpanAttributes): void;
  /** Renames a span whose subject became known later. */
  rename(name: string): void;
  /**
   * Reports the span. A second end does nothing.
   *
   * @param failure a code or the name of an error; absent: no failure
   */
  end(failure?: string): void;
}

export interface Tracer {
  open(options: SpanOptions): Span;
  /** The context with a sampling decision. It may not have one yet. */
  decided(context: TraceContext): TraceContext & { readonly sampled: boolean };
  /** Runs `work` with the span as the parent of spans from third-party instrumentation. Rejects like `work`. */
  within<T>(context: TraceContext, work: () => Promise<T>): Promise<T>;
}

/** Code or name of an error, for a span. The message is left out, because it may contain private data. */
export function errorTypeOf(error: unknown): string {
  const cause = readableThrown(error);
  if (!(cause instanceof Error)) return 'Error';
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return [code, name].find((one) => typeof one === 'string') ?? 'Error';
}
