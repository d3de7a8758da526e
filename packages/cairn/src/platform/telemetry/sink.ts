/** Interface to a collector: metrics of the instance, metrics of scheduled functions, and spans. */
import type { InstallationMetrics, Metrics, ProblemMetrics } from '../../ports/metrics.ts';
import type { ActiveRuns } from '../../ports/run-statistics.ts';
import type { EndedSpan } from './span-tracer.ts';

/** Runs of one tenant that have not ended, by status. */
export interface TenantActivity {
  readonly tenantId: string;
  readonly active: readonly ActiveRuns[];
}

export interface MetricSink extends Metrics, ProblemMetrics, InstallationMetrics {
  /** Counts spans that were dropped for lack of space. */
  spansDropped(count: number): void;
  /** Exported once, with the next export, because an old count would look current. */
  active(activity: readonly TenantActivity[]): void;
  /** Sends all current totals. They are not differences, so the next export makes up for a lost one. @throws Error */
  send(): Promise<void>;
}

/** The collector will refuse these spans every time. */
export class SpansRefused extends Error {
  override readonly name = 'SpansRefused';
  /** True if the collector may accept them in several requests. */
  readonly isTooLarge: boolean;

  constructor(
    message: string,
    { isTooLarge = false, ...options }: ErrorOptions & { readonly isTooLarge?: boolean } = {},
  ) {
    super(message, options);
    this.isTooLarge = isTooLarge;
  }
}

export interface SpanSink {
  /** @throws SpansRefused; another Error if the spans should be sent again: some may have arrived */
  send(spans: readonly EndedSpan[]): Promise<void>;
}

/** Both sinks of one collector. */
export interface Sinks {
  readonly metrics: MetricSink;
  readonly spans: SpanSink;
}
