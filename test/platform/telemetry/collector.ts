/** An OpenTelemetry collector on loopback that stores the exports (OTLP/HTTP, JSON). */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface DataPoint {
  readonly attributes: Attributes;
  readonly asInt?: string | number;
  readonly asDouble?: number;
  readonly count?: string | number;
  readonly sum?: number;
  readonly bucketCounts?: readonly (string | number)[];
  readonly explicitBounds?: readonly number[];
}

interface Series {
  readonly dataPoints: readonly DataPoint[];
  readonly aggregationTemporality?: number;
  readonly isMonotonic?: boolean;
}

export interface Metric {
  readonly name: string;
  readonly unit?: string;
  readonly sum?: Series;
  readonly gauge?: Series;
  readonly histogram?: Series;
}

export interface Export {
  readonly path: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly metrics: readonly Metric[];
}

export interface Point {
  readonly labels: Readonly<Record<string, string>>;
  /** For a histogram: number of values. */
  readonly value: number;
  /** For a histogram. */
  readonly sum?: number;
  readonly buckets?: readonly number[];
}

/** In OTLP's wire format, except for its attributes. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

export interface CollectedSpan extends Omit<SentSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Instance that sent it. */
  readonly instance: string;
}

export class Collector {
  readonly exports: Export[] = [];
  readonly spans: CollectedSpan[] = [];
  /** Headers of each request, whatever the response. */
  readonly asked: IncomingHttpHeaders[] = [];
  /** Status of the responses to exports. */
  status = 200;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.asked.push(request.headers);
      if (this.status === 200) this.#keep(request.url ?? '', Buffer.concat(chunks).toString('utf8'));
      response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** The points of the newest export of each instance that has this metric. */
  points(name: string): Point[] {
    const newest = new Map<string, readonly DataPoint[]>();
    for (const { resource, metrics } of this.exports) {
      const metric = metrics.find((one) => one.name === name);
      const series = metric?.sum ?? metric?.gauge ?? metric?.histogram;
      if (series) newest.set(resource['service.instance.id'] ?? '', series.dataPoints);
    }
    return [...newest.values()].flat().map(pointOf);
  }

  #keep(path: string, text: string): void {
    const body = JSON.parse(text) as {
      resourceMetrics?: { resource: { attributes: Attributes }; scopeMetrics: { metrics: Metric[] }[] }[];
      resourceSpans?: { resource: { attributes: Attributes }; scopeSpans: { spans: SentSpan[] }[] }[];
    };
    for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
      const instance = plain(resource.attributes)['service.instance.id'] ?? '';
      for (const { attributes, ...span } of scopeSpans.flatMap((scope) => scope.spans))
        this.spans.push({ ...span, attributes: valuesOf(attributes), instance });
    }
    for (const { resource, scopeMetrics } of body.resourceMetrics ?? []) {
      const metrics = scopeMetrics.flatMap((scope) => scope.metrics);
      this.exports.push({ path, resource: plain(resource.attributes), metrics });
    }
  }
}

function pointOf({ attributes, asInt, asDouble, count, sum, bucketCounts }: DataPoint): Point {
  return {
    labels: plain(attributes),
    value: Number(asInt ?? asDouble ?? count),
    ...(sum === undefined ? {} : { sum }),
    ...(bucketCounts ? { buckets: bucketCounts.map(Number) } : {}),
  };
}

function valuesOf(attributes: Attributes): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue } = value;
      return [key, stringValue ?? boolValue ?? Number(intValue ?? doubleValue)];
    }),
  );
}

function plain(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? '']));
}
