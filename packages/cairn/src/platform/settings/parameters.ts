/**
 * Parameters of an installation: environment variables that a deployment may ask for. Values are read at first use, not
 * at load, because they do not exist during a deployment.
 *
 * Must not: declare a parameter to Firebase by itself, because a deployment asks for each declared parameter without a value.
 */
import { defineInt, defineString, type Expression } from 'firebase-functions/params';
import { DRIVE_TIMEOUT_S } from '../../core/drive-time.ts';
import { MAX_SHARDS, SHARD_COUNT } from '../../core/encoding/ids.ts';
import { MAX_QUEUES } from '../../core/encoding/queue-place.ts';
import type { CairnOptions } from '../installation/options.ts';

interface Spec<T extends string | number> {
  readonly default: T;
  readonly description: string;
}

export interface Parameter<T extends string | number> {
  readonly default: T;
  /** Value in the environment; the default if it is missing or empty. */
  value(): T;
  /** Declares the parameter to Firebase, so that a deployment asks for it. */
  declare(): Expression<T>;
}

/** Declares only once: a second declaration would move the parameter to the end of the deployment's questions. */
function once<T>(declare: () => T): () => T {
  let declared: T | undefined;
  return () => {
    declared ??= declare();
    return declared;
  };
}

/** In the order of a deployment's questions, which is the order of this file. */
const ALL: Parameter<string | number>[] = [];

function text(name: string, spec: Spec<string>): Parameter<string> {
  const value = () => process.env[name] || spec.default;
  return listed({ default: spec.default, value, declare: once(() => defineString(name, spec)) });
}

function whole(name: string, spec: Spec<number>): Parameter<number> {
  const value = () => {
    const parsed = Number.parseInt(process.env[name] ?? '', 10);
    return Number.isNaN(parsed) ? spec.default : parsed;
  };
  return listed({ default: spec.default, value, declare: once(() => defineInt(name, spec)) });
}

function listed<T extends string | number>(parameter: Parameter<T>): Parameter<T> {
  ALL.push(parameter);
  return parameter;
}

/** Region of the functions and the queue. `firebase deploy` reserves the name `FUNCTION_REGION`. */
export const region = text('CAIRN_REGION', {
  default: 'us-central1',
  description: 'Region of the functions and of their task queue.',
});

export const database = text('FIRESTORE_DATABASE', {
  default: '(default)',
  description: 'Firestore database that holds the runs. It must exist, in Native mode.',
});

export const collectionPrefix = text('COLLECTION_PREFIX', {
  default: '',
  description:
    'Prefix of the collections of this installation. Empty: gwi_, or the name under which the functions are exported.',
});

export const environment = text('ENVIRONMENT', {
  default: 'production',
  description: 'Environment recorded on every run, for example production or staging.',
});

export const githubTenants = text('GITHUB_TENANTS', {
  default: '',
  description:
    'Tenants of GitHub installations or accounts, as INSTALLATION=tenant, OWNER=tenant or *=tenant, separated by commas.',
});

export const githubTenant = text('GITHUB_TENANT', {
  default: '',
  description:
    'Tenant of GitHub runs that GITHUB_TENANTS does not list. Empty: local if GITHUB_TENANTS is empty, otherwise their deliveries are ignored.',
});

export const scheduleTenant = text('SCHEDULE_TENANT', {
  default: 'local',
  description: 'Tenant that owns the schedules that workflows declare, and their runs.',
});

export const slackTenants = text('SLACK_TENANTS', {
  default: '',
  description: 'Tenants of Slack teams, as TEAM=tenant, separated by commas. Empty: none.',
});

/** Off by default: the topic must be created first. */
export const runEventsTopic = text('RUN_EVENTS_TOPIC', {
  default: '',
  description:
    'Pub/Sub topic to which run events are published. It must exist. Empty: run events are not published.',
});

export const pubsubTenant = text('PUBSUB_TENANT', {
  default: 'local',
  description: 'Tenant of the runs that Pub/Sub messages start and of the events they deliver.',
});

export const retentionDays = whole('RETENTION_DAYS', {
  default: 0,
  description:
    'Days that runs are kept after their end, unless their workflow declares otherwise. 0: forever.',
});

export const serviceAccount = text('TASKS_SERVICE_ACCOUNT', {
  default: '',
  description:
    'Service account with which the queue authenticates to the drive function. Empty: the service account of the functions.',
});

export const apiRateLimit = whole('API_RATE_LIMIT', {
  default: 100,
  description:
    'Sustained requests per second of one API caller to one instance. The burst limit is five times as many. 0: no limit.',
});

export const driveMemoryMb = whole('DRIVE_MEMORY_MB', {
  default: 1_024,
  description: 'Memory of an instance of drive and driveAlone, in MiB.',
});

export const driveConcurrency = whole('DRIVE_CONCURRENCY', {
  default: 80,
  description: 'Runs that one instance of drive processes concurrently.',
});

export const driveTimeoutSeconds = whole('DRIVE_TIMEOUT_SECONDS', {
  default: DRIVE_TIMEOUT_S,
  description:
    'Timeout of a dispatch of drive in seconds, from 60 to 1800. From 540 on, the longest step is 140 seconds shorter; below, it is four fifths of it less 32 seconds.',
});

export const driveMinInstances = whole('DRIVE_MIN_INSTANCES', {
  default: 0,
  description: 'Minimum instances of drive. They are billed while idle.',
});

export const driveMaxInstances = whole('DRIVE_MAX_INSTANCES', {
  default: 100,
  description: 'Maximum instances of drive and of driveAlone.',
});

export const driveQueues = whole('DRIVE_QUEUES', {
  default: 1,
  description: `Queues of drive, from 1 to ${MAX_QUEUES}: drive, drive-2 and so on. Never fewer than before while tasks wait.`,
});

export const driveQueuesPerTenant = whole('DRIVE_QUEUES_PER_TENANT', {
  default: 2,
  description: 'Of these queues, the ones that the runs of one tenant go into. 0: all.',
});

export const driveQueuePlaces = whole('DRIVE_QUEUE_PLACES', {
  default: 2_000,
  description: 'Dispatches of one queue of drive at a time, at most 5000.',
});

export const runShards = whole('RUN_SHARDS', {
  default: SHARD_COUNT,
  description: `Ranges that the indexes over times are spread over, from ${SHARD_COUNT} to ${MAX_SHARDS}.`,
});

export const apiMemoryMb = whole('API_MEMORY_MB', {
  default: 1_024,
  description: 'Memory of an instance of api, in MiB.',
});

export const publicMaxInstances = whole('PUBLIC_MAX_INSTANCES', {
  default: 20,
  description: 'Maximum instances of each public function. It bounds the cost of a flood of requests.',
});

export const slackMinInstances = whole('SLACK_MIN_INSTANCES', {
  default: 0,
  description: 'Minimum instances of slackWebhook. Slack waits three seconds for a response.',
});

export const deployHook = text('DEPLOY_HOOK_URL', {
  default: '',
  description:
    'URL that the workflow deploy calls to lock, release, roll back and check health. Empty: the workflow is not installed.',
});

export const cleanupHook = text('CLEANUP_HOOK_URL', {
  default: '',
  description:
    'URL that the workflow nightly-cleanup calls to remove and check items. Empty: the workflow is not installed.',
});

export const otlpEndpoint = text('OTEL_EXPORTER_OTLP_ENDPOINT', {
  default: '',
  description: 'URL of the OpenTelemetry collector for metrics and traces (OTLP over HTTP). Empty: none.',
});

export const otlpHeaders = text('OTEL_EXPORTER_OTLP_HEADERS', {
  default: '',
  description:
    'Headers for the collector, as name=value,name=value. Not needed for https://telemetry.googleapis.com.',
});

export const traceSampler = text('OTEL_TRACES_SAMPLER', {
  default: 'parentbased_traceidratio',
  description:
    'Trace sampler: parentbased_traceidratio (follows the decision of the caller) or traceidratio (ignores it).',
});

export const traceRatio = text('OTEL_TRACES_SAMPLER_ARG', {
  default: '1',
  description: 'Share of traces sampled if no caller decides, from 0 to 1.',
});

/** Read by the log itself. */
export const logLevel = text('LOG_LEVEL', {
  default: 'INFO',
  description: 'Lowest level of log entries that are written: DEBUG, INFO, WARNING or ERROR.',
});

export const githubApiUrl = text('GITHUB_API_URL', {
  default: 'https://api.github.com',
  description: 'URL of the GitHub REST API. For GitHub Enterprise Server: https://HOST/api/v3.',
});

export const slackHooksUrl = text('SLACK_HOOKS_URL', {
  default: 'https://hooks.slack.com',
  description: 'Origin of Slack response URLs.',
});

/** Parameters that a deployment need not ask for, because the code sets them or nothing uses them. */
function unusedParameters(options: CairnOptions): ReadonlySet<unknown> {
  const { github, slack, topics = [], drive = {} } = options;
  const given: readonly (readonly [unknown, unknown])[] = [
    [region, options.region],
    [database, options.database],
    [collectionPrefix, options.collectionPrefix],
    [environment, options.environment],
    [runEventsTopic, options.runEventsTopic],
    [githubTenants, !github || (typeof github === 'object' && github.tenants)],
    [githubTenant, !github || (typeof github === 'object' && github.tenant)],
    [githubApiUrl, !github],
    [slackTenants, !slack || (typeof slack === 'object' && slack.tenants)],
    [slackHooksUrl, !slack],
    [pubsubTenant, topics.length === 0],
    [driveMemoryMb, drive.memory],
    [driveConcurrency, drive.concurrency],
    [driveTimeoutSeconds, drive.timeoutSeconds],
    [driveMinInstances, drive.minInstances],
    [driveMaxInstances, drive.maxInstances],
    [driveQueuePlaces, drive.queuePlaces],
    [slackMinInstances, !slack],
  ];
  return new Set(given.filter(([, value]) => value !== undefined && value !== false).map(([one]) => one));
}

/** Declares the parameters that the installation uses and its code does not set. */
export function declareParameters(options: CairnOptions): void {
  const except = unusedParameters(options);
  for (const parameter of ALL) if (!except.has(parameter)) parameter.declare();
}
