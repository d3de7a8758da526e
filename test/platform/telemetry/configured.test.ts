import { afterEach, expect, jest, test } from '@jest/globals';
import type { Settings } from '../../../packages/cairn/src/platform/settings/settings.ts';
import { configuredTelemetry } from '../../../packages/cairn/src/platform/telemetry/configured.ts';
import { Telemetry } from '../../../packages/cairn/src/platform/telemetry/telemetry.ts';

const SETTINGS = {
  project: 'p',
  region: 'r',
  environment: 'e',
  service: 's',
  local: false,
  otlpHeaders: '',
  traceSampler: 'parentbased_traceidratio',
  traceRatio: '1',
};

const settings = (otlpEndpoint: string | undefined) => ({ ...SETTINGS, otlpEndpoint }) as Settings;

afterEach(() => {
  jest.restoreAllMocks();
});

function logged(): string[] {
  const lines: string[] = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
  return lines;
}

test.each(['http://127.0.0.1:4318', 'https://collector.example.com/otlp/'])(
  '%s is the address of a collector',
  (endpoint) => {
    const lines = logged();
    const configured = configuredTelemetry(settings(endpoint));
    expect(configured?.telemetry).toBeInstanceOf(Telemetry);
    expect(configured?.tracer).toBeDefined();
    expect(lines).toEqual([]);
  },
);

test('without an address there is no telemetry, and no log line', () => {
  const lines = logged();
  expect(configuredTelemetry(settings(undefined))).toBeUndefined();
  expect(lines).toEqual([]);
});

test.each(['collector:4318', 'grpc://c:4317', 'http://', 'https//c'])(
  '%s is not an address, which is logged once, and runs continue',
  (endpoint) => {
    const lines = logged();
    expect(configuredTelemetry(settings(endpoint))).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ severity: 'ERROR', event: 'telemetry_off' });
  },
);

test.each([
  ['an unknown sampler', { traceSampler: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  ['a share above one', { traceRatio: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
  ['a share that is not a number', { traceRatio: 'all' }, 'OTEL_TRACES_SAMPLER_ARG'],
])('with %s there are metrics but no traces, and the parameter is named', (_what, given, named) => {
  const lines = logged();
  const configured = configuredTelemetry({ ...settings('http://127.0.0.1:4318'), ...given });
  expect(configured?.telemetry).toBeInstanceOf(Telemetry);
  expect(configured?.tracer).toBeUndefined();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'telemetry_off' }]);
  expect(lines[0]).toContain(`${named} `);
});

test('a share of 0 turns tracing off, for every caller', () => {
  const none = { ...settings('http://127.0.0.1:4318'), traceSampler: 'traceidratio', traceRatio: '0' };
  expect(configuredTelemetry(none)?.tracer).toBeUndefined();
  expect(configuredTelemetry({ ...none, traceSampler: SETTINGS.traceSampler })?.tracer).toBeDefined();
});

test('invalid headers are not shown, and nothing is sent without them', () => {
  const lines = logged();
  const given = { ...settings('http://127.0.0.1:4318'), otlpHeaders: 'hunter2' };
  expect(configuredTelemetry(given)).toBeUndefined();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('OTEL_EXPORTER_OTLP_HEADERS');
  expect(lines[0]).not.toContain('hunter2');
});
