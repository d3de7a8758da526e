import { afterEach, expect, jest, test } from '@jest/globals';
import type { Settings } from '../../../functions/src/platform/params.ts';
import { telemetryOf } from '../../../functions/src/platform/telemetry/configured.ts';
import { Telemetry } from '../../../functions/src/platform/telemetry/telemetry.ts';

const settings = (otlpEndpoint: string | undefined) =>
  ({ project: 'p', region: 'r', environment: 'e', service: 's', local: false, otlpEndpoint }) as Settings;

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
  '%s is a collector',
  (endpoint) => {
    const lines = logged();
    expect(telemetryOf(settings(endpoint))).toBeInstanceOf(Telemetry);
    expect(lines).toEqual([]);
  },
);

test('without an address there is no telemetry, and nothing to say about it', () => {
  const lines = logged();
  expect(telemetryOf(settings(undefined))).toBeUndefined();
  expect(lines).toEqual([]);
});

test.each(['collector:4318', 'grpc://c:4317', 'http://', 'https//c'])(
  '%s is no address: it is said once, and runs go on without',
  (endpoint) => {
    const lines = logged();
    expect(telemetryOf(settings(endpoint))).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ severity: 'ERROR', event: 'telemetry_off' });
  },
);
