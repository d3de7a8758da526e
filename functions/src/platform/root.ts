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
import { RawBatch } from '../store/commits/raw-batch.ts';
import { FirestoreClientStore } from '../store/firestore-client-store.ts';
import { FirestoreEffectStore } from '../store/firestore-effect-store.ts';
import { FirestoreIdempotencyStore } from '../store/firestore-idempotency-store.ts';
import { FirestoreRendezvousStore } from '../store/firestore-rendezvous-store.ts';
import { FirestoreRunCensus } from '../store/firestore-run-census.ts';
import { FirestoreRunListWatch } from '../store/firestore-run-list-watch.ts';
import { FirestoreRunStore } from '../store/firestore-run-store.ts';
import { FirestoreRunWatch } from '../store/firestore-run-watch.ts';
import { FirestoreRuntimeConfigStore } from '../store/firestore-runtime-config-store.ts';
import { FirestoreScheduleStore } from '../store/firestore-schedule-store.ts';
import { FirestoreIntegrityStore } from '../store/integrity/firestore-integrity-store.ts';
import { FirestoreRunSample } from '../store/integrity/firestore-run-sample.ts';
import { FirestoreRunFinder } from '../store/lists/firestore-run-finder.ts';
import { FirestoreRetentionStore } from '../store/retention/firestore-retention-store.ts';
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
  const { collectionPrefix, environment, scheduleTenant } = settings;
  const operations = new InstanceOperations(systemClock);
  const db = firestoreClient(settings.project, operations);
  const commits = lazyCommitChannel({
    project: settings.project,
    emulator: settings.firestoreHost,
    tally: operations,
  });
  const counts = new InstanceMetrics();
  const { telemetry, tracer } = configuredTelemetry(settings) ?? {};
  const metrics = telemetry ? bothMetrics(counts, telemetry) : counts;
  const traced = optional('tracer', tracer);
  const world = { clock: systemClock, random: systemRandomness, log: platformLog, metrics, ...traced };
  const queue = lazyQueue({ settings, ...world });
  const registry = new WorkflowRegistry(installedWorkflows());
  const start: StartDeps = {
    ...world,
    store: new FirestoreRunStore(db, collectionPrefix, () => new RawBatch(commits)),
    records: new FirestoreIdempotencyStore(db, collectionPrefix),
    queue: telemetry ? toldQueue({ queue, counts: telemetry, tracer }) : queue,
    recent: new RecentStarts(),
    ...(settings.local ? { processingLockMs: LOCAL_PROCESSING_LOCK_MS } : {}),
    ...optional('bus', lazyBus({ settings, ...world })),
  };
  const config = new FirestoreRuntimeConfigStore(db, collectionPrefix);
  const rendezvous = new FirestoreRendezvousStore(db, collectionPrefix);
  const effects = new FirestoreEffectStore(db, collectionPrefix);
  const bindings = new Bindings(installedBindings());
  bindings.assertBound(registry);
  const engine: EngineDeps = {
    ...start,
    otherRuns: otherRuns({ ...start, registry }),
    rendezvous,
    runtime: new CachedRuntimeConfig(config, systemClock),
    registry,
    effects,
    bindings,
    settings: settings.local ? LOCAL_SETTINGS : PRODUCTION_SETTINGS,
    shutdown,
  };
  const github: GithubDeps = {
    start,
    registry,
    environment,
    secrets: () => secretsIn(githubWebhookSecret.name, githubWebhookSecret.value()),
    tenants: () => githubTenantsIn(settings.githubTenants),
  };
  const slack: SlackDeps = {
    start,
    registry,
    environment,
    secrets: () => secretsIn(slackSigningSecret.name, slackSigningSecret.value()),
    tenants: () => tenantsIn(settings.slackTenants),
  };
  const clients = new FirestoreClientStore(db, collectionPrefix);
  const census = new FirestoreRunCensus(db, collectionPrefix);
  const finder = new FirestoreRunFinder(db, collectionPrefix);
  const watch = new FirestoreRunWatch(db, collectionPrefix);
  const listWatch = new FirestoreRunListWatch(db, collectionPrefix);
  const integrity = new FirestoreIntegrityStore(db, collectionPrefix);
  const sample = new FirestoreRunSample(db, collectionPrefix);
  const retention = new FirestoreRetentionStore(db, collectionPrefix);
  const retentionOf = retentionIn(registry, daysToMs(settings.retentionDays));
  const schedules = new FirestoreScheduleStore(db, collectionPrefix);
  const { diagnosis, beating } = diagnosisOf({ settings, db, operations, log: platformLog });
  return {
    engine,
    github,
    slack,
    api: {
      start,
      registry,
      bindings,
      effects,
      integrity,
      retention,
      retentionOf,
      environment,
      clients,
      clientRegistry: clients,
      tokens: tokensFor(settings),
      rateLimit: rateLimitOf(settings),
      rendezvous,
      config,
      census,
      finder,
      counts,
      diagnosis,
      schedules,
      watch,
      listWatch,
      shutdown,
      version,
    },
    retention: { ...world, runtime: engine.runtime, retention, retentionOf },
    schedules: { ...start, schedules, registry, environment, declaredTenant: scheduleTenant },
    messages: {
      start,
      deliver: { ...start, rendezvous, registry },
      registry,
      environment,
      tenantId: settings.pubsubTenant,
    },
    sample: { ...start, reader: integrity, payloads: start.store, census, sample, problems: telemetry },
    census,
    beating,
    telemetry,
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
