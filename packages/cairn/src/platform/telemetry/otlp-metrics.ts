/**
 * Metrics as OpenTelemetry instruments, sent over OTLP/HTTP. Slow to load, so it must be loaded only if
 * a collector is configured. Registers nothing globally, so that libraries with instruments of their own stay silent.
 */
import type { Meter } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { DURATION_BOUNDS_MS } from '../../ports/metrics.ts';
import { type OtlpOptions, SEND_TIMEOUT_MS, signalUrl } from './otlp-options.ts';
import type { MetricSink, TenantActivity } from './sink.ts';

/**
 * Most series of an instrument: five hundred tenants with twenty kinds of transitions each. Further ones are counted in
 * one overflow series (`otel.metric.overflow`), so that the sum stays correct.
 */
const MAX_SERIES = 10_000;
const METER = 'cairn';
const BOUNDS_S = DURATION_BOUNDS_MS.map((ms) => ms / 1_000);

export function otlpMetrics({ endpoint, resource, headers }: OtlpOptions): MetricSink {
  const url = signalUrl(endpoint, 'metrics');
  const reader = new SendingReader(new OTLPMetricExporter({ url, timeoutMillis: SEND_TIMEOUT_MS, headers }));
  const provider = new MeterProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    readers: [reader],
  });
  const meter = provider.getMeter(METER);
  const { transitions, durations, answers, problems, effects, conflicts, ...ours } = instrumentsOf(meter);
  const { drives, tasks, scanned, due, lag, dropped } = ours;
  let activity: readonly TenantActivity[] = [];
  meter
    .createObservableGauge('gwi_run_active_gauge', {
      description: 'Runs that have not ended, counted in the store.',
    })
    .addCallback((result) => {
      for (const { tenantId, active } of activity) {
        for (const { status, runs } of active) result.observe(runs, { status, tenant_id: tenantId });
      }
    });
  return {
    transition({ tenantId, from, to }) {
      transitions.add(1, { from_state: from, to_state: to, tenant_id: tenantId });
    },
    ended({ tenantId, type, status, durationMs }) {
      durations.record(durationMs / 1_000, { type, status, tenant_id: tenantId });
    },
    answered({ source, result }) {
      answers.add(1, { source, result });
    },
    effect({ tenantId, capabilityId, outcome }) {
      effects.add(1, { capability: capabilityId, outcome, tenant_id: tenantId });
    },
    conflict({ tenantId, leased }) {
      conflicts.add(1, { leased: String(leased), tenant_id: tenantId });
    },
    dispatch({ tenantId, end, cold, durationMs }) {
      drives.record(durationMs / 1_000, { end, cold: String(cold), tenant_id: tenantId });
    },
    enqueue({ reason, result }) {
      tasks.add(1, { reason, result });
    },
    scan({ due: found, lagMs, handled }) {
      due.record(found);
      lag.record(lagMs / 1_000);
      for (const [outcome, runs] of Object.entries(handled)) if (runs > 0) scanned.add(runs, { outcome });
    },
    spansDropped(count) {
      dropped.add(count);
    },
    inconsistent({ tenantId, code }) {
      problems.add(1, { code, tenant_id: tenantId });
    },
    active(counted) {
      activity = counted;
    },
    async send() {
      const sent = activity;
      await reader.send();
      if (activity === sent) activity = [];
    },
  };
}

/** Instruments by name; docs/observability.md describes them. */
function instrumentsOf(meter: Meter) {
  return {
    transitions: meter.createCounter('gwi_run_transitions_total', { description: 'Status changes of runs.' }),
    durations: meter.createHistogram('gwi_run_duration_seconds', {
      description: 'Time from the start of a run to its end, including waits.',
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDS_S },
    }),
    answers: meter.createCounter('gwi_idempotency_hits_total', {
      description: 'Requests with an idempotency key: hit, a repetition; miss, a new request.',
    }),
    problems: meter.createCounter('gwi_run_problems_total', {
      description: 'Problems found by the hourly check of a sample of runs, by code.',
    }),
    effects: meter.createCounter('gwi_effects_total', { description: 'Effect calls of steps by outcome.' }),
    conflicts: meter.createCounter('gwi_journal_conflicts_total', {
      description: 'Journal appends that lost to a concurrent append.',
    }),
    drives: meter.createHistogram('gwi_drive_duration_seconds', {
      description: 'Duration of dispatches by result.',
      unit: 's',
      advice: { explicitBucketBoundaries: BOUNDS_S },
    }),
    tasks: meter.createCounter('gwi_queue_tasks_total', { description: 'Tasks enqueued, by result.' }),
    scanned: meter.createCounter('gwi_scan_runs_total', {
      description: 'Due runs found by the scan, by action.',
    }),
    due: meter.createGauge('gwi_scan_due_gauge', { description: 'Due runs found by the last scan.' }),
    lag: meter.createGauge('gwi_scan_lag_seconds', {
      description: 'Age of the oldest due time at the last scan.',
      unit: 's',
    }),
    dropped: meter.createCounter('gwi_spans_dropped_total', {
      description: 'Spans dropped because the export buffer was full.',
    }),
  };
}

/**
 * Exports on demand, and reports failures. The SDK's own reader exports by a timer, which stops while an instance has
 * no request, and it does not report failures.
 */
class SendingReader extends MetricReader {
  readonly #exporter: PushMetricExporter;

  constructor(exporter: PushMetricExporter) {
    super({
      cardinalitySelector: () => MAX_SERIES,
      // Gauges have no temporality on the wire, but with cumulative temporality the SDK repeats values without a new observation.
      aggregationTemporalitySelector: (type) =>
        type === InstrumentType.OBSERVABLE_GAUGE || type === InstrumentType.GAUGE
          ? AggregationTemporality.DELTA
          : AggregationTemporality.CUMULATIVE,
    });
    this.#exporter = exporter;
  }

  async send(): Promise<void> {
    const { resourceMetrics, errors } = await this.collect();
    if (errors.length > 0) throw new AggregateError(errors, 'metrics could not be collected');
    if (resourceMetrics.scopeMetrics.length === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#exporter.export(resourceMetrics, ({ error }) => (error ? reject(error) : resolve()));
    });
  }

  protected onForceFlush(): Promise<void> {
    return this.send();
  }

  protected onShutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
