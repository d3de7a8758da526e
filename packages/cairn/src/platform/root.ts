/**
 * The composition root: the one place that constructs adapters and hands them to the engine and the doors. Loaded by
 * the first request of an instance, so that deploying and starting cost none of it.
 */
import type { ApiDeps } from '../api/deps.ts';
import type { RateLimit } from '../api/rate-limit.ts';
import { optional } from '../core/optional.ts';
import { CachedRuntimeConfig } from '../engine/cached-runtime-config.ts';
import { Bindings } from '../engine/define/bindings.ts';
import { WorkflowRegistry } from '../engine/define/registry.ts';
import { retentionIn } from '../engine/define/retention.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { LOCAL_PROCESSING_LOCK_MS, LOCAL_SETTINGS, PRODUCTION_SETTINGS } from '../engine/settings.ts';
import type { BeatingDeps } from '../operations/diagnosis/beating.ts';
import type { SampleDeps } from '../operations/integrity/sample-runs.ts';
import { otherRuns } from '../operations/other-runs.ts';
import type { SweepDeps } from '../operations/retention/deps.ts';
import { RecentStarts } from '../operations/start/recent-starts.ts';
import type { StartDeps } from '../operations/start/request.ts';
import type { TokenVerifier } from '../ports/access/token-verifier.ts';
import type { RunCensus } from '../ports/run-census.ts';
import { githubTenantsIn } from '../triggers/github/tenants.ts';
import type { GithubDeps } from '../triggers/github/webhook.ts';
import type { PubsubDeps } from '../triggers/pubsub/take-message.ts';
import type { TickDeps } from '../triggers/schedule/tick.ts';
import { secretsIn } from '../triggers/secrets.ts';
import type { SlackDeps } from '../triggers/slack/deps.ts';
import { tenantsIn } from '../triggers/slack/tenants.ts';
import { lazyBus } from './clients/bus.ts';
import { lazyCommitChannel } from './clients/commit-channel.ts';
import { firestoreClient } from './clients/firestore.ts';
import { lazyQueue } from './clients/tasks.ts';
import { systemClock } from './clock.ts';
import { diagnosisOf } from './diagnosis/compose.ts';
import { InstanceOperations } from './diagnosis/instance-operations.ts';
import { firebaseIdTokens, noIdTokens } from './id-tokens.ts';
import { installedBindings, installedWorkflows } from './installed.ts';
import { platformLog } from './log.ts';
import { githubWebhookSecret, readSettings, type Settings, slackSigningSecret } from './params.ts';
import { systemRandomness } from './randomness.ts';
import { shutdown } from './shutdown.ts';
import { storesOn } from './stores.ts';
import { bothMetrics } from './telemetry/both-metrics.ts';
import { configuredTelemetry } from './telemetry/configured.ts';
import { InstanceMetrics } from './telemetry/instance-metrics.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { toldQueue } from './telemetry/told-queue.ts';
import { version } from './version.ts';

export interface Root {
  readonly engine: EngineDeps;
  readonly github: GithubDeps;
  readonly slack: SlackDeps;
  readonly api: ApiDeps;
  readonly schedules: TickDeps;
  readonly retention: SweepDeps;
  readonly messages: PubsubDeps;
  readonly sample: SampleDeps;
  readonly census: RunCensus;
  /** For the scheduled functions. */
  readonly beating: BeatingDeps;
  /** Undefined: no collector is configured. */
  readonly telemetry: Telemetry | undefined;
}

let root: Root | undefined;

/** The same for every function of the instance. @throws Error if the installation's settings are not usable */
export function compose(): Root {
  root ??= build(readSettings());
  return root;
}

function build(settings: Settings): Root {
  const { environment, scheduleTenant, project } = settings;
  const operations = new InstanceOperations(systemClock);
  const db = firestoreClient(project, operations);
  const commits = lazyCommitChannel({ project, emulator: settings.firestoreHost, tally: operations });
  const { runs, records, sample, ...stores } = storesOn(db, settings.collectionPrefix, commits);
  const counts = new InstanceMetrics();
  const { telemetry, tracer } = configuredTelemetry(settings) ?? {};
  const metrics = telemetry ? bothMetrics(counts, telemetry) : counts;
  const traced = optional('tracer', tracer);
  const world = { clock: systemClock, random: systemRandomness, log: platformLog, metrics, ...traced };
  const queue = lazyQueue({ settings, ...world });
  const start: StartDeps = {
    ...world,
    store: runs,
    records,
    queue: telemetry ? toldQueue({ queue, counts: telemetry, tracer }) : queue,
    recent: new RecentStarts(),
    ...(settings.local ? { processingLockMs: LOCAL_PROCESSING_LOCK_MS } : {}),
    ...optional('bus', lazyBus({ settings, ...world })),
  };
  const registry = new WorkflowRegistry(installedWorkflows());
  const bindings = new Bindings(installedBindings());
  bindings.assertBound(registry);
  const { rendezvous, effects, census, integrity, retention, schedules } = stores;
  const runtime = new CachedRuntimeConfig(stores.config, systemClock);
  const retentionOf = retentionIn(registry, daysToMs(settings.retentionDays));
  const { diagnosis, beating } = diagnosisOf({ settings, db, operations, log: platformLog });
  return {
    engine: {
      ...start,
      otherRuns: otherRuns({ ...start, registry }),
      rendezvous,
      runtime,
      registry,
      effects,
      bindings,
      settings: settings.local ? LOCAL_SETTINGS : PRODUCTION_SETTINGS,
      shutdown,
    },
    ...webhooksOf(settings, { start, registry, environment }),
    api: {
      ...stores,
      start,
      registry,
      bindings,
      retentionOf,
      environment,
      clientRegistry: stores.clients,
      tokens: tokensFor(settings),
      rateLimit: rateLimitOf(settings),
      counts,
      diagnosis,
      shutdown,
      version,
    },
    retention: { ...world, runtime, retention, retentionOf },
    schedules: { ...start, schedules, registry, environment, declaredTenant: scheduleTenant },
    messages: {
      start,
      deliver: { ...start, rendezvous, registry },
      registry,
      environment,
      tenantId: settings.pubsubTenant,
    },
    sample: { ...start, reader: integrity, payloads: runs, census, sample, problems: telemetry },
    census,
    beating,
    telemetry,
  };
}

/** Secrets and tenants are asked for with each request: parameters have values then. */
function webhooksOf(
  { githubTenants, slackTenants }: Settings,
  shared: Pick<GithubDeps & SlackDeps, 'start' | 'registry' | 'environment'>,
): Pick<Root, 'github' | 'slack'> {
  return {
    github: {
      ...shared,
      secrets: () => secretsIn(githubWebhookSecret.name, githubWebhookSecret.value()),
      tenants: () => githubTenantsIn(githubTenants),
    },
    slack: {
      ...shared,
      secrets: () => secretsIn(slackSigningSecret.name, slackSigningSecret.value()),
      tenants: () => tenantsIn(slackTenants),
    },
  };
}

function daysToMs(days: number | undefined): number | undefined {
  return days === undefined ? undefined : days * 24 * 3_600_000;
}

/** A page that loads, or a script that begins, asks a lot at once. */
const BURST_SECONDS = 5;

function rateLimitOf({ apiRateLimit: perSecond }: Settings): RateLimit | undefined {
  return perSecond === undefined ? undefined : { perSecond, burst: perSecond * BURST_SECONDS };
}

function tokensFor({ project, authEmulator, local }: Settings): TokenVerifier {
  if (!authEmulator || local) return firebaseIdTokens({ project });
  platformLog.error('auth_emulator_outside_local_cloud', {
    help: 'Unset FIREBASE_AUTH_EMULATOR_HOST: no ID token is accepted while it is set.',
  });
  return noIdTokens;
}
