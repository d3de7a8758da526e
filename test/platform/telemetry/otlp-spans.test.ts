import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  googleHeaders,
  isGoogle,
  parseHeaders,
} from '../../../packages/cairn/src/platform/telemetry/collector-access.ts';
import { otlpMetrics } from '../../../packages/cairn/src/platform/telemetry/otlp-metrics.ts';
import { otlpSpans } from '../../../packages/cairn/src/platform/telemetry/otlp-spans.ts';
import { SpansRefused } from '../../../packages/cairn/src/platform/telemetry/sink.ts';
import type { EndedSpan } from '../../../packages/cairn/src/platform/telemetry/span-tracer.ts';
import { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import { Collector } from './collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = { traceId: TRACE, spanId: '00f067aa0ba902b7', sampled: true };
const OTHER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };

const SPAN: EndedSpan = {
  name: 'step say',
  kind: 'internal',
  context: { traceId: TRACE, spanId: 'c'.repeat(16), sampled: true },
  parent: PARENT,
  startedAt: 1_700_000_000_123.25,
  endedAt: 1_700_000_001_000,
  links: [OTHER],
  attributes: { text: 'x', count: 2, is: true },
  failure: undefined,
};

let collector: Collector;
let endpoint: string;
beforeEach(async () => {
  collector = new Collector();
  endpoint = await collector.listen();
});
afterEach(() => collector.close());

const options = (headers: () => Promise<Record<string, string>> = async () => ({})) => ({
  endpoint,
  resource: { 'service.name': 'cairn', 'service.instance.id': 'i1' },
  headers,
});

describe('a span', () => {
  test('is sent in the format of OTLP, to the fraction of a millisecond', async () => {
    await otlpSpans(options()).send([SPAN]);
    expect(collector.spans).toMatchObject([
      {
        traceId: TRACE,
        spanId: 'c'.repeat(16),
        parentSpanId: PARENT.spanId,
        name: 'step say',
        kind: 1,
        startTimeUnixNano: '1700000000123250000',
        endTimeUnixNano: '1700000001000000000',
        attributes: { text: 'x', count: 2, is: true },
        links: [{ traceId: OTHER.traceId, spanId: OTHER.spanId }],
        instance: 'i1',
      },
    ]);
    expect(collector.spans[0]?.status.code ?? 0).toBe(0);
  });

  test.each([
    ['internal', 1],
    ['server', 2],
    ['client', 3],
    ['producer', 4],
    ['consumer', 5],
  ] as const)('of kind %s is %d', async (kind, sent) => {
    await otlpSpans(options()).send([{ ...SPAN, kind }]);
    expect(collector.spans.map((span) => span.kind)).toEqual([sent]);
  });

  test('without a parent begins a trace, and a failed one names its error', async () => {
    await otlpSpans(options()).send([{ ...SPAN, parent: undefined, failure: 'EFFECT_IN_DOUBT' }]);
    const [span] = collector.spans;
    expect(span?.parentSpanId ?? '').toBe('');
    expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'EFFECT_IN_DOUBT' } });
  });

  test.each([
    [400, true],
    [413, true],
    // The token, the URL or the collector may be corrected.
    [401, false],
    [403, false],
    [404, false],
    [500, false],
  ])('that the collector answers with %i is refused for good: %s', async (status, isRefused) => {
    collector.status = status;
    const sent = otlpSpans(options()).send([SPAN]);
    await expect(sent).rejects.toThrow();
    expect((await sent.catch((error: unknown) => error)) instanceof SpansRefused).toBe(isRefused);
  });
});

test('the headers of a hosted collector are sent with traces and metrics', async () => {
  const headers = async () => parseHeaders('api-key=s3cr%3Det, x-tenant = acme');
  await otlpSpans(options(headers)).send([SPAN]);
  const metrics = otlpMetrics(options(headers));
  metrics.answered({ tenantId: 'acme', source: 'api', result: 'miss' });
  await metrics.send();
  expect(collector.asked).toHaveLength(2);
  for (const request of collector.asked)
    expect(request).toMatchObject({ 'api-key': 's3cr=et', 'x-tenant': 'acme' });
});

test.each(['hunter2', '=hunter2', 'a b=hunter2', 'a=%zzhunter2', 'a=hunter2%0d%0ax: y'])(
  'headers written as %s are refused without being shown',
  (text) => {
    expect(() => parseHeaders(text)).toThrow(
      /^OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value$/,
    );
  },
);

test('an empty parameter means no headers', () => {
  expect([parseHeaders(''), parseHeaders(' , ')]).toEqual([{}, {}]);
});

describe("Google's endpoint", () => {
  /** Google's collector accepts only requests with the token that its metadata server issued last. */
  let metadata: string;
  let given: string[];
  let status: number;
  let expiresIn: number;
  let clock: VirtualClock;
  let failures: unknown[];
  const server = createServer((request, response) => {
    const isRight =
      request.url === '/computeMetadata/v1/instance/service-accounts/default/token' &&
      request.headers['metadata-flavor'] === 'Google';
    if (!isRight || status !== 200) return void response.writeHead(isRight ? status : 404).end();
    given.push(`token-${given.length + 1}`);
    response.end(JSON.stringify({ access_token: given.at(-1), expires_in: expiresIn, token_type: 'Bearer' }));
  });
  beforeEach(async () => {
    [given, status, expiresIn, clock, failures] = [[], 200, 3_600, new VirtualClock(), []];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    metadata = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const headers = () => googleHeaders({ metadata, clock, onFailure: (error) => void failures.push(error) });

  test('is recognized by its name alone', () => {
    expect(isGoogle('https://telemetry.googleapis.com')).toBe(true);
    expect(isGoogle('https://telemetry.googleapis.com:443/')).toBe(true);
    expect(isGoogle('https://telemetry.googleapis.com.evil.example')).toBe(false);
    expect(isGoogle('http://127.0.0.1:4318')).toBe(false);
  });

  test("receives the token of the functions' account, requested once for both exports and until it expires", async () => {
    const headerRequest = headers();
    await Promise.all([headerRequest(), headerRequest()]);
    await otlpSpans(options(headerRequest)).send([SPAN]);
    expect(collector.asked).toMatchObject([{ authorization: 'Bearer token-1' }]);
    expect(given).toHaveLength(1);
    clock.jump(3_540_000);
    await otlpSpans(options(headerRequest)).send([SPAN]);
    expect(collector.asked.at(-1)).toMatchObject({ authorization: 'Bearer token-2' });
    expect(failures).toEqual([]);
  });

  test('is called without a token if there is none, and the next request for one is delayed', async () => {
    status = 503;
    const headerRequest = headers();
    expect([await headerRequest(), await headerRequest()]).toEqual([{}, {}]);
    expect(failures).toHaveLength(1);
    status = 200;
    clock.jump(30_000);
    expect(await headerRequest()).toEqual({ authorization: 'Bearer token-1' });
  });
});
