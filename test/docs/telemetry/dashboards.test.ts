import { globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { otlpMetrics } from '../../../packages/cairn/src/platform/telemetry/otlp-metrics.ts';
import { Collector } from '../../platform/telemetry/collector.ts';
import { readDocument } from '../snippets.ts';

const root = join(import.meta.dirname, '../../..');

/** Labels by metric name at a collector, by Prometheus' rules for histograms. */
const emitted = new Map<string, Set<string>>();

beforeAll(async () => {
  const collector = new Collector();
  const sink = otlpMetrics({ endpoint: await collector.listen(), resource: {}, headers: async () => ({}) });
  const tenantId = 't';
  sink.transition({ tenantId, from: 'pending', to: 'running' });
  sink.ended({ tenantId, type: 'x', status: 'failed', durationMs: 1 });
  sink.answered({ tenantId, source: 'api', result: 'hit' });
  sink.effect({ tenantId, capabilityId: 'c', outcome: 'executed' });
  sink.conflict({ tenantId, leased: true });
  sink.dispatch({ tenantId, end: 'closed', cold: true, durationMs: 1 });
  sink.enqueue({ reason: 'start', result: 'accepted' });
  sink.scan({ due: 1, lagMs: 1, handled: { enqueued: 1 } });
  sink.inconsistent({ tenantId, code: 'STEP_MISSING' });
  sink.spansDropped(1);
  sink.active([{ tenantId, active: [{ status: 'running', runs: 1 }] }]);
  await sink.send();
  for (const { metrics } of collector.exports) {
    for (const { name, histogram } of metrics) {
      const labels = new Set(collector.points(name).flatMap((point) => Object.keys(point.labels)));
      const names = histogram ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
      for (const one of names) emitted.set(one, new Set([...labels, ...(histogram ? ['le'] : [])]));
    }
  }
  await collector.close();
});

const DASHBOARDS = ['docs/dashboards/grafana.json', 'docs/dashboards/google-cloud.json'];

/** All values of members with this name, at any depth. */
function valuesOf(value: unknown, name: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === name && typeof one === 'string' ? [one] : valuesOf(one, name),
  );
}

function expressionsIn(document: string): string[] {
  const text = readDocument(document);
  if (!document.endsWith('.json')) {
    return [...text.matchAll(/^\| (?:page|ticket) \| [^|]* \| `([^`]+)` \|/gm)].map(([, code = '']) => code);
  }
  const dashboard: unknown = JSON.parse(text);
  return [...valuesOf(dashboard, 'expr'), ...valuesOf(dashboard, 'prometheusQuery')];
}

/** Metrics of an expression, each with the labels that it uses. */
function askedIn(expression: string): { name: string; labels: string[] }[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/),
  );
  return [...expression.matchAll(/(gwi_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...grouped, ...[...matchers.matchAll(/(\w+)\s*[=!~]/g)].map(([, label = '']) => label)],
  }));
}

describe.each([...DASHBOARDS, 'docs/observability.md'])('%s', (document) => {
  test('queries metrics and labels that are sent', () => {
    const queried = expressionsIn(document).flatMap(askedIn);
    expect(queried.length).toBeGreaterThan(9);
    for (const { name, labels } of queried) {
      expect([...emitted.keys()]).toContain(name);
      for (const label of labels) expect([name, ...(emitted.get(name) ?? [])]).toContain(label);
    }
  });
});

test.each(DASHBOARDS)('%s shows every metric that is sent', (document) => {
  const shown = new Set(
    expressionsIn(document)
      .flatMap(askedIn)
      .map(({ name }) => base(name)),
  );
  expect(new Set([...emitted.keys()].map(base))).toEqual(shown);
});

test('both dashboards show the same', () => {
  const [one, other] = DASHBOARDS.map(expressionsIn);
  expect(one).toEqual(other);
});

test('docs/observability.md lists every metric that is sent, with its labels', () => {
  const rows = [
    ...readDocument('docs/observability.md').matchAll(
      /^\|(?: \w+ \|)? `(gwi_\w+)` \|(?: \w+ \|)? ([^|]*)\|/gm,
    ),
  ];
  const documented = rows.map(([, name = '', labels = '']) => [
    name,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort(),
  ]);
  const sent = new Map([...emitted].map(([name, labels]) => [base(name), labelsOf(labels)]));
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(sent));
});

test('docs/observability.md lists every attribute that a span can have, and no other', () => {
  const files = [
    ...globSync('packages/cairn/src/engine/tracing/*.ts', { cwd: root }),
    ...globSync('packages/cairn/src/platform/telemetry/{request-span,traced-queue,otlp-spans}.ts', {
      cwd: root,
    }),
    'packages/cairn/src/triggers/pubsub/take-message.ts',
    'packages/cairn/src/recovery/scan.ts',
    'packages/cairn/src/engine/recover-run.ts',
    'packages/cairn/src/engine/effects/performer.ts',
    'packages/cairn/src/api/app.ts',
  ];
  const NAME = /['`]((?:cairn|faas|http|messaging|error)\.[a-z_.]+)['`]/g;
  const named = (text: string) => new Set([...text.matchAll(NAME)].map(([, name]) => name));
  const [, traces = ''] = /^## Traces$([\s\S]*?)^## /m.exec(readDocument('docs/observability.md')) ?? [];
  expect(named(traces)).toEqual(named(files.map(readDocument).join('\n')));
});

function base(name: string): string {
  return name.replace(/_(?:bucket|sum|count)$/, '');
}

function labelsOf(labels: ReadonlySet<string>): string[] {
  return [...labels].filter((label) => label !== 'le').sort();
}
