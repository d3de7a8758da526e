/**
 * Spans over OTLP/HTTP, as JSON. Slow to load, so it must be loaded only if a collector is configured. Uses only the
 * exporter of OpenTelemetry: span-tracer.ts creates the spans, because Cairn chooses their ids.
 */
import { type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceContext } from '../../core/trace.ts';
import type { SpanKind as Kind } from '../../ports/tracing.ts';
import { type OtlpOptions, SEND_TIMEOUT_MS, signalUrl } from './otlp-options.ts';
import { type SpanSink, SpansRefused } from './sink.ts';
import type { EndedSpan } from './span-tracer.ts';

/** HTTP statuses for a request that the collector will never accept. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 413, 422]);

const SCOPE = { name: 'cairn' };

const KINDS: Readonly<Record<Kind, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

export function otlpSpans(options: OtlpOptions): SpanSink {
  const exporter = new OTLPTraceExporter({
    url: signalUrl(options.endpoint, 'traces'),
    timeoutMillis: SEND_TIMEOUT_MS,
    headers: options.headers,
  });
  const resource = defaultResource().merge(resourceFromAttributes(options.resource));
  return {
    send(spans) {
      return new Promise<void>((resolve, reject) => {
        exporter.export(
          spans.map((span) => readable(span, resource)),
          ({ error }) => (error ? reject(refusalOf(error) ?? error) : resolve()),
        );
      });
    },
  };
}

function refusalOf(error: Error): SpansRefused | undefined {
  const code = 'code' in error ? error.code : undefined;
  if (!REFUSALS.has(code)) return undefined;
  return new SpansRefused(error.message, { cause: error, isTooLarge: code === 413 });
}

function readable(span: EndedSpan, resource: Resource): ReadableSpan {
  const { name, kind, context, parent, startedAt, endedAt, links, attributes, failure } = span;
  const own = contextOf(context);
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => own,
    ...(parent ? { parentSpanContext: contextOf(parent) } : {}),
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    ended: true,
    status: { code: failure === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: { ...attributes, ...(failure === undefined ? {} : { 'error.type': failure }) },
    links: links.map((link) => ({ context: contextOf(link) })),
    events: [],
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, spanId, sampled }: TraceContext): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
