/**
 * Tracing port. Absent without a collector, so that callers write `tracer?.open(…)` and nothing is created needlessly.
 * Must not fail or block.
 *
 * Spans leave the installation: ids, names and outcomes. Never an input, an output, a message or a header.
 */
import { readableThrown } from '../core/thrown.ts';
import type { TraceContext } from '../core/trace.ts';

/** The kinds of OpenTelemetry. `server` answers a request, `client` makes one, `producer` and `consumer` share a queue. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Names follow OpenTelemetry's semantic conventions if there is one, `cairn.*` otherwise. Undefined is omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** Low-cardinality name. */
  readonly name: string;
  readonly kind: SpanKind;
  /** Parent span; absent: a new trace. */
  readonly parent?: TraceContext | undefined;
  /** Ids under which others already know the span; absent: drawn. */
  readonly self?: TraceContext | undefined;
  /** Epoch ms; absent: now. */
  readonly startedAt?: number | undefined;
  /** Spans that caused it without being its parent; undefined ones are omitted. */
  readonly links?: readonly (TraceContext | undefined)[];
  readonly attributes?: SpanAttributes;
}

export interface Span {
  /** Context for child spans, in this process or another; `sampled` is decided. */
  readonly context: TraceContext & { readonly sampled: boolean };
  /** Replaces earlier attributes of these names. Does nothing once the span has ended. */
  set(attributes: SpanAttributes): void;
  /** Renames a span whose subject is known later. */
  rename(name: string): void;
  /**
   * Reports the span. A second end does nothing.
   *
   * @param failure a code or the name of an error; absent: it did not fail
   */
  end(failure?: string): void;
}

export interface Tracer {
  open(options: SpanOptions): Span;
  /** The context with the question answered that it may leave open: whether its trace is kept. */
  decided(context: TraceContext): TraceContext & { readonly sampled: boolean };
  /** Does the work with the span as parent of spans that instrumentation of others opens in it. Rejects as the work does. */
  within<T>(context: TraceContext, work: () => Promise<T>): Promise<T>;
}

/** Name of an error in a span: its code or name. Its message may contain private data. */
export function errorTypeOf(error: unknown): string {
  const cause = readableThrown(error);
  if (!(cause instanceof Error)) return 'Error';
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return [code, name].find((one) => typeof one === 'string') ?? 'Error';
}
