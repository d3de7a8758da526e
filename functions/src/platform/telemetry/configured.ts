/** The telemetry of this installation, if it has a collector. Nothing of OpenTelemetry is loaded where it has none. */
import { systemClock } from '../clock.ts';
import { platformLog } from '../log.ts';
import type { Settings } from '../params.ts';
import { systemRandomness } from '../randomness.ts';
import { shutdown } from '../shutdown.ts';
import { version } from '../version.ts';
import { Telemetry } from './telemetry.ts';

/** Twelve exports a minute of a busy instance, each with its totals; a collector bears hundreds of such instances. */
const EVERY_MS = 5_000;
/** Somebody looks on. */
const LOCAL_EVERY_MS = 500;

/** An address that is none is said once and sent nothing: runs matter more than what is counted of them. */
export function telemetryOf(settings: Settings): Telemetry | undefined {
  const { otlpEndpoint: endpoint, local } = settings;
  if (endpoint === undefined) return undefined;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    platformLog.error('telemetry_off', {
      help: 'OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address; no metrics are sent.',
    });
    return undefined;
  }
  return new Telemetry({
    async load() {
      const { otlpMetrics } = await import('./otlp-metrics.ts');
      return otlpMetrics({ endpoint, resource: resourceOf(settings) });
    },
    everyMs: local ? LOCAL_EVERY_MS : EVERY_MS,
    clock: systemClock,
    log: platformLog,
    shutdown,
  });
}

/** Names of OpenTelemetry's semantic conventions. Without an id of the instance, totals of several would be one mixture. */
function resourceOf({ project, region, environment, service }: Settings): Readonly<Record<string, string>> {
  return {
    'service.name': 'cairn',
    'service.namespace': project,
    'service.version': version,
    'service.instance.id': systemRandomness.token(),
    'deployment.environment.name': environment,
    'cloud.region': region,
    ...(service === undefined ? {} : { 'faas.name': service }),
  };
}
