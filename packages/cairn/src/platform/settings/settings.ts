/**
 * What an installation can set: the parameters `firebase deploy` asks for, and what the local cloud puts in the
 * environment. The only place that reads the environment. Values are read when first used, not at load: while functions
 * are deployed there are none.
 */
import { defineInt, defineSecret, defineString } from 'firebase-functions/params';
import type { GithubTenantParameters } from '../triggers/github/tenants.ts';

/** Where the functions run and the queue lies. Not `FUNCTION_REGION`: `firebase deploy` keeps that name to itself. */
export const region = defineString('CAIRN_REGION', {
  default: 'us-central1',
  description: 'Region of the functions and of their task queue.',
});

const collectionPrefix = defineString('COLLECTION_PREFIX', {
  default: 'gwi_',
  description: 'Collections that begin with it belong to this installation.',
});

const environment = defineString('ENVIRONMENT', {
  default: 'production',
  description: 'Written on every run, e.g. production or staging.',
});

const githubTenants = defineString('GITHUB_TENANTS', {
  default: '',
  description:
    'GitHub installations or accounts and whose runs they start, as INSTALLATION=tenant, OWNER=tenant or *=tenant, separated by commas.',
});

const githubTenant = defineString('GITHUB_TENANT', {
  default: '',
  description:
    'Tenant of the runs that GitHub starts and GITHUB_TENANTS does not list. Empty: local if nothing is listed, else they are ignored.',
});

const scheduleTenant = defineString('SCHEDULE_TENANT', {
  default: 'local',
  description: 'Tenant that owns the schedules that workflows declare, and their runs.',
});

const slackTenants = defineString('SLACK_TENANTS', {
  default: '',
  description: 'Slack teams and whose runs they start, as TEAM=tenant, separated by commas. Empty: none.',
});

const runEventsTopic = defineString('RUN_EVENTS_TOPIC', {
  default: 'run-events',
  description: 'Pub/Sub topic to which the events of runs are published; it must exist. Empty: they are not.',
});

const pubsubTenant = defineString('PUBSUB_TENANT', {
  default: 'local',
  description: 'Tenant of the runs that Pub/Sub messages start, and of the events that they bring.',
});

const retentionDays = defineInt('RETENTION_DAYS', {
  default: 0,
  description: 'Days that runs are kept after their end, where their workflow does not say. 0: for ever.',
});

const serviceAccount = defineString('TASKS_SERVICE_ACCOUNT', {
  default: '',
  description:
    'Service account whose identity the queue shows to the drive function. Empty: the one the functions run as.',
});

const apiRateLimit = defineInt('API_RATE_LIMIT', {
  default: 100,
  description:
    'Requests a second that one caller of the API may go on making to one instance; five times as many at once. 0: no limit.',
});

const deployHook = defineString('DEPLOY_HOOK_URL', {
  default: '',
  description:
    'What the workflow deploy calls to lock, release, roll back and ask for health. Empty: no such workflow.',
});

const cleanupHook = defineString('CLEANUP_HOOK_URL', {
  default: '',
  description: 'What the workflow nightly-cleanup calls to remove and look. Empty: no such workflow.',
});

const otlpEndpoint = defineString('OTEL_EXPORTER_OTLP_ENDPOINT', {
  default: '',
  description:
    'Address of the OpenTelemetry collector that metrics and traces are sent to (OTLP over HTTP). Empty: none.',
});

const otlpHeaders = defineString('OTEL_EXPORTER_OTLP_HEADERS', {
  default: '',
  description:
    'Headers that the collector asks for, as name=value,name=value. Not for https://telemetry.googleapis.com.',
});

const traceSampler = defineString('OTEL_TRACES_SAMPLER', {
  default: 'parentbased_traceidratio',
  description:
    'Which traces are kept: parentbased_traceidratio (those whose caller says so), traceidratio (whatever it says).',
});

const traceRatio = defineString('OTEL_TRACES_SAMPLER_ARG', {
  default: '1',
  description: 'Share of traces that are kept where no caller decides, from 0 to 1.',
});

/** Read by the log itself. */
export const logLevel = defineString('LOG_LEVEL', {
  default: 'INFO',
  description: 'Log lines below it are not written: DEBUG, INFO, WARNING or ERROR.',
});

const githubApiUrl = defineString('GITHUB_API_URL', {
  default: 'https://api.github.com',
  description: "GitHub's REST API. Another one for GitHub Enterprise Server: https://HOST/api/v3.",
});

const slackHooksUrl = defineString('SLACK_HOOKS_URL', {
  default: 'https://hooks.slack.com',
  description: 'Where Slack takes messages through a response_url.',
});

/** What reviews are posted with; `none`: they are not. Only the drive has it. */
export const githubToken = defineSecret('GITHUB_TOKEN');

/** One secret, or during an exchange several, separated by commas. */
export const githubWebhookSecret = defineSecret('GITHUB_WEBHOOK_SECRET');

/** Likewise. */
export const slackSigningSecret = defineSecret('SLACK_SIGNING_SECRET');

export interface Settings {
  readonly project: string;
  readonly region: string;
  readonly collectionPrefix: string;
  readonly environment: string;
  /** As they were given: read where they are used, so that a slip in one stops its door and nothing else. */
  readonly githubTenants: GithubTenantParameters;
  readonly slackTenants: string;
  /** Days that runs are kept whose workflow does not say how long; undefined: for ever. */
  readonly retentionDays: number | undefined;
  readonly scheduleTenant: string;
  readonly pubsubTenant: string;
  /** Name of the topic; undefined: the events of runs are not published. */
  readonly runEventsTopic: string | undefined;
  /** Undefined: ask the metadata server. */
  readonly serviceAccount: string | undefined;
  /** Where the queue delivers. */
  readonly driveUrl: string;
  /** `host:port` of a task queue that speaks plain text; undefined: Google's. */
  readonly tasksHost: string | undefined;
  /** `host:port` of a Pub/Sub that speaks plain text; undefined: Google's. */
  readonly pubsubHost: string | undefined;
  /** `host:port` of a Firestore that speaks plain text; undefined: Google's. */
  readonly firestoreHost: string | undefined;
  /** Requests a second of one caller of the API at one instance; undefined: no limit. */
  readonly apiRateLimit: number | undefined;
  /** Whether ID tokens are those of the Auth emulator, which signs nothing. */
  readonly authEmulator: boolean;
  /** As it was given; undefined: nothing is sent. */
  readonly otlpEndpoint: string | undefined;
  /** As they were given. */
  readonly otlpHeaders: string;
  readonly traceSampler: string;
  readonly traceRatio: string;
  /** What the platform calls this function; undefined where it has no name. */
  readonly service: string | undefined;
  /** Whether this is the local cloud, with its shorter leases. */
  readonly local: boolean;
}

/** Where the shipped workflows act, as far as they do. @throws Error naming a parameter that is no URL */
export function hookUrls(): { readonly deploy: string | undefined; readonly cleanup: string | undefined } {
  return {
    deploy: hookUrl('DEPLOY_HOOK_URL', deployHook.value()),
    cleanup: hookUrl('CLEANUP_HOOK_URL', cleanupHook.value()),
  };
}

export interface GithubAccess {
  /** Without a slash at the end. */
  readonly url: string;
  /** Undefined: there is none, or not in this function. */
  readonly token: () => string | undefined;
}

/** @throws Error if the parameter is no URL */
export function githubAccess(): GithubAccess {
  const url = baseUrl('GITHUB_API_URL', githubApiUrl.value());
  return { url, token: () => tokenIn(process.env[githubToken.name]) };
}

/** @throws Error likewise */
export function slackHooks(): string {
  return baseUrl('SLACK_HOOKS_URL', slackHooksUrl.value());
}

/** Not by `value()`, which complains in the log of each function that is not given the secret. */
function tokenIn(text = ''): string | undefined {
  const token = text.trim();
  return token === '' || token === 'none' ? undefined : token;
}

function baseUrl(name: string, text: string): string {
  const url = hookUrl(name, text);
  if (url === undefined) throw new Error(`${name} is empty`);
  return url.replace(/\/+$/, '');
}

function hookUrl(name: string, text: string): string | undefined {
  if (text === '') return undefined;
  // The text is left out: it may carry a secret.
  if (!/^https?:/.test(text) || !URL.canParse(text)) throw new Error(`${name} is not an http or https URL`);
  return text;
}

/** @throws Error if the platform did not say which project this is */
export function readSettings(): Settings {
  const { env } = process;
  const project = env.GCLOUD_PROJECT ?? env.GOOGLE_CLOUD_PROJECT;
  if (!project) throw new Error('GCLOUD_PROJECT is not set');
  const where = region.value();
  const local = env.CAIRN_LOCAL === '1';
  const functionsUrl = env.CAIRN_FUNCTIONS_URL || `https://${where}-${project}.cloudfunctions.net`;
  return {
    project,
    region: where,
    collectionPrefix: collectionPrefix.value(),
    environment: environment.value(),
    githubTenants: { listed: githubTenants.value(), others: githubTenant.value() },
    slackTenants: slackTenants.value(),
    retentionDays: retentionDays.value() <= 0 ? undefined : retentionDays.value(),
    scheduleTenant: scheduleTenant.value(),
    pubsubTenant: pubsubTenant.value(),
    runEventsTopic: runEventsTopic.value() || undefined,
    serviceAccount: serviceAccount.value() || undefined,
    driveUrl: `${functionsUrl}/drive`,
    tasksHost: env.CAIRN_TASKS_HOST || undefined,
    pubsubHost: env.PUBSUB_EMULATOR_HOST || undefined,
    firestoreHost: env.FIRESTORE_EMULATOR_HOST || undefined,
    // A storm on the local cloud is a test.
    apiRateLimit: local || apiRateLimit.value() <= 0 ? undefined : apiRateLimit.value(),
    otlpEndpoint: otlpEndpoint.value() || undefined,
    otlpHeaders: otlpHeaders.value(),
    // Without a value where no file of parameters was read.
    traceSampler: traceSampler.value() || 'parentbased_traceidratio',
    traceRatio: traceRatio.value() || '1',
    service: env.K_SERVICE || undefined,
    authEmulator: Boolean(env.FIREBASE_AUTH_EMULATOR_HOST),
    local,
  };
}
