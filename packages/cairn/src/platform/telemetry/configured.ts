/** The telemetry of this installation, if it has a collector. Otherwise nothing of OpenTelemetry is loaded. */

import type { Tracer } from '../../ports/tracing.ts';
import { systemClock } from '../clock.ts';
import { shutdown } from '../instance/shutdown.ts';
import { platformLog } from '../log.ts';
import { systemRandomness } from '../randomness.ts';
import type { Settings } from '../settings/settings.ts';
import { packageVersion } from '../version.ts';
import { googleHeaders, isGoogle, parseHeaders } from './collector-access.ts';
import { type Sampling, samplingOf } from './sampling.ts';
import { SpanTracer } from './span-tracer.ts';
import { Telemetry } from './telemetry.ts';

/** A busy instance exports twelve times a minute, each time all totals. A collector handles hundreds of such instances. */
const EVERY_MS = 5_000;
/** Shorter on the local cloud, where a person watches. */
const LOCAL_EVERY_MS = 500;
const METADATA = 'http://metadata.google.internal';

export interface Configured {
  readonly telemetry: Telemetry;
  /** Absent if traces are not exported. */
  readonly tracer?: Tracer;
}

/** Invalid settings are logged once and ignored, because runs matter more than telemetry. */
export function configuredTelemetry(settings: Settings): Configured | undefined {
  const { otlpEndpoint: endpoint, local } = settings;
  if (endpoint === undefined) return undefined;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    off('OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL; nothing is sent.');
    return undefined;
  }
  const headers = headersFor(settings, endpoint);
  if (!headers) return undefined;
  const telemetry = new Telemetry({
    async load() {
      const [{ otlpMetrics }, { otlpSpans }] = await Promise.all([
        import('./otlp-metrics.ts'),
        import('./otlp-spans.ts'),
      ]);
      const options = { endpoint, resource: resourceOf(settings, endpoint), headers };
      return { metrics: otlpMetrics(options), spans: otlpSpans(options) };
    },
    everyMs: local ? LOCAL_EVERY_MS : EVERY_MS,
    clock: systemClock,
    log: platformLog,
    shutdown,
  });
  const sampling = samplingFor(settings);
  if (!sampling || (sampling.ratio === 0 && !sampling.parentBased)) return { telemetry };
  const tracer = new SpanTracer({
    sampling,
    clock: systemClock,
    random: systemRandomness,
    onEnd: (span) => telemetry.spanEnded(span),
  });
  return { telemetry, tracer };
}

function headersFor(
  { otlpHeaders }: Settings,
  endpoint: string,
): (() => Promise<Record<string, string>>) | undefined {
  let given: Record<string, string>;
  try {
    given = parseHeaders(otlpHeaders);
  } catch (error) {
    off(`${(error as Error).message}; nothing is sent.`);
    return undefined;
  }
  if (!isGoogle(endpoint)) return async () => given;
  const token = googleHeaders({
    metadata: METADATA,
    clock: systemClock,
    onFailure: (error) => platformLog.warn('telemetry_token_unavailable', { error }),
  });
  return async () => ({ ...(await token()), ...given });
}

function samplingFor({ traceSampler: sampler, traceRatio: ratio }: Settings): Sampling | undefined {
  try {
    return samplingOf({ sampler, ratio });
  } catch (error) {
    off(`${(error as Error).message}; no traces are sent.`);
    return undefined;
  }
}

function off(help: string): void {
  platformLog.error('telemetry_off', { help });
}

/** Attribute names follow OpenTelemetry's semantic conventions. Without an instance id, totals of several instances would be mixed. */
function resourceOf(settings: Settings, endpoint: string): Readonly<Record<string, string>> {
  const { project, region, environment, service } = settings;
  return {
    'service.name': 'cairn',
    'service.namespace': project,
    'service.version': packageVersion(),
    'service.instance.id': systemRandomness.token(),
    'deployment.environment.name': environment,
    'cloud.region': region,
    ...(service === undefined ? {} : { 'faas.name': service }),
    // Google's collector requires the project.
    ...(isGoogle(endpoint) ? { 'gcp.project_id': project } : {}),
  };
}
