/**
 * Creates spans, and passes on ended ones in an internal format. OpenTelemetry is loaded only for the export. A
 * span that never ends is not exported.
 *
 * The tracer of OpenTelemetry's SDK would add 95 ms of processor time to a cold start. Its batch processor drops spans
 * that a collector refuses, and its sampler uses other digits of the trace id.
 */
import type { TraceContext } from '../../core/trace.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Span, SpanAttributes, SpanKind, SpanOptions, Tracer } from '../../ports/tracing.ts';
import { isSampled, type Sampling } from './sampling.ts';

export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly links: readonly TraceContext[];
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failure: string | undefined;
}

interface SpanTracerOptions {
  readonly sampling: Sampling;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Called for sampled spans. Must neither throw nor block. */
  readonly onEnd: (span: EndedSpan) => void;
}

type DecidedContext = Span['context'];

const SPAN_ID_DIGITS = 16;
/** Longer strings are truncated. A span contains no user data. */
const MAX_TEXT_CHARS = 256;

export class SpanTracer implements Tracer {
  readonly #options: SpanTracerOptions;

  constructor(options: SpanTracerOptions) {
    this.#options = options;
  }

  open(options: SpanOptions): Span {
    const context = this.#contextOf(options);
    if (!context.sampled) return { context, set() {}, rename() {}, end() {} };
    return new RecordedSpan(options, { ...this.#options, context });
  }

  decided(context: TraceContext): DecidedContext {
    return { ...context, sampled: isSampled(this.#options.sampling, context) };
  }

  within<T>(context: TraceContext, work: () => Promise<T>): Promise<T> {
    return withActiveSpan(context, work);
  }

  /** All spans of a trace share its decision. The ratio applies where the trace starts. */
  #contextOf({ parent, self }: SpanOptions): DecidedContext {
    if (self) return this.decided(self);
    const { random } = this.#options;
    const spanId = random.token().slice(0, SPAN_ID_DIGITS);
    return this.decided({ traceId: parent?.traceId ?? random.token(), spanId, sampled: parent?.sampled });
  }
}

interface Recording extends SpanTracerOptions {
  readonly context: DecidedContext;
}

class RecordedSpan implements Span {
  readonly context: DecidedContext;
  readonly #options: SpanOptions;
  readonly #recording: Recording;
  readonly #startedAt: number;
  #attributes: SpanAttributes;
  #name: string;
  #hasEnded = false;

  constructor(options: SpanOptions, recording: Recording) {
    this.context = recording.context;
    this.#options = options;
    this.#recording = recording;
    this.#startedAt = options.startedAt ?? recording.clock.now();
    this.#attributes = options.attributes ?? {};
    this.#name = options.name;
  }

  set(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  rename(name: string): void {
    this.#name = name;
  }

  end(failure?: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { clock, onEnd } = this.#recording;
    const { kind, parent, links = [] } = this.#options;
    onEnd({
      name: this.#name,
      kind,
      context: this.context,
      parent,
      startedAt: this.#startedAt,
      // Start times may come from other clocks, which may be ahead.
      endedAt: Math.max(this.#startedAt, clock.now()),
      links: links.filter((link) => link !== undefined),
      attributes: definedAttributes(this.#attributes),
      failure,
    });
  }
}

function definedAttributes(attributes: SpanAttributes): EndedSpan['attributes'] {
  const values = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? shortened(value) : value]],
  );
  return Object.fromEntries(values) as EndedSpan['attributes'];
}

/** Replaces half a surrogate pair at the cut, because a collector may refuse the request otherwise. */
function shortened(text: string): string {
  return text.slice(0, MAX_TEXT_CHARS).toWellFormed();
}

/** Global key at which every copy of OpenTelemetry's API, version 1, registers. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Makes a span of Cairn the parent of spans from user instrumentation. OpenTelemetry's API is loaded only
 * if an instrumentation has registered itself, because it takes 30 ms of a cold start.
 */
function withActiveSpan<T>(span: TraceContext, work: () => Promise<T>): Promise<T> {
  return REGISTERED in globalThis ? activated(span, work) : work();
}

async function activated<T>({ traceId, spanId, sampled }: TraceContext, work: () => Promise<T>): Promise<T> {
  const { context, trace, TraceFlags } = await import('@opentelemetry/api');
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return context.with(trace.setSpanContext(context.active(), { traceId, spanId, traceFlags }), work);
}
