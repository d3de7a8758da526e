/**
 * The composition root: the only place that constructs adapters and passes them to the engine and the handlers. Loaded by the
 * first request of an instance, so that deployments and cold starts do not load it.
 */
import type { ApiDeps } from '../api/deps.ts';
import { API_CONCURRENCY } from '../api/limits.ts';
import { BURST_SECONDS, type RateLimit } from '../api/rate-limit.ts';
import { dayLimits } from '../core/budget/day-limits.ts';
import { budgetOf } from '../core/drive-time.ts';
import { CachedRuntimeConfig } from '../engine/cached-runtime-config.ts';
import { Bindings } from '../engine/define/bindings.ts';
import { WorkflowRegistry } from '../engine/define/registry.ts';
import { retentionIn } from '../engine/define/retention.ts';
import type { EngineDeps } from '../engine/deps.ts';
import { KnownPlans } from '../engine/plans/known-plans.ts';
import {
  type EngineSettings,
  LOCAL_PROCESSING_LOCK_MS,
  LOCAL_SETTINGS,
  PRODUCTION_SETTINGS,
} from '../engine/settings.ts';
import type { HeartbeatDeps } from '../operations/diagnosis/with-heartbeat.ts';
import type { SampleDeps } from '../operations/integrity/sample-runs.ts';
import { otherRuns } from '../operations/other-runs.ts';
import type { DeletionDeps } from '../operations/retention/deps.ts';
import type { HomeDeps } from '../operations/runtime/restore.ts';
import { RecentStarts } from '../operations/start/recent-starts.ts';
import type { StartDeps } from '../operations/start/request.ts';
import type { TokenVerifier } from '../ports/access/token-verifier.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { RunStatistics } from '../ports/run-statistics.ts';
import { wrapCalls } from '../ports/wrap-calls.ts';
import { githubTenantsIn } from '../triggers/github/tenants.ts';
import type { GithubDeps } from '../triggers/github/webhook.ts';
import type { PubsubDeps } from '../triggers/pubsub/take-message.ts';
import type { TickDeps } from '../triggers/schedule/tick.ts';
import { secretsIn } from '../triggers/secrets.ts';
import type { SlackDeps } from '../triggers/slack/deps.ts';
import { tenantsIn } from '../triggers/slack/teams.ts';
import { lazyBus } from './clients/bus.ts';
import { lazyCommitChannel } from './clients/commit-channel.ts';
import { firestoreClient } from './clients/firestore.ts';
import { lazyQueue } from './clients/tasks.ts';
import { wireTo } from './clients/wire.ts';
import { systemClock } from './clock.ts';
import { type BoundSecrets, boundSecrets } from './diagnosis/bound-secrets.ts';
import { diagnosisOf } from './diagnosis/compose.ts';
import { InstanceOperations } from './diagnosis/instance-operations.ts';
import { firebaseIdTokens, noIdTokens } from './id-tokens.ts';
import { assertDrivesFit, deletionGraceMs, driveTimeoutS, poolsOf } from './installation/drive-classes.ts';
import { functionNames, runningFunction, servedModule } from './installation/exported-names.ts';
import { type CairnInstallation, servedInstallations } from './installation/installation.ts';
import type { CairnOptions, Lazily } from './installation/options.ts';
import { assertApart } from './installation/store-location.ts';
import { assertIntact } from './instance/builtins.ts';
import { admitNewBody } from './instance/new-bodies.ts';
import { shutdown } from './instance/shutdown.ts';
import { platformLog } from './log.ts';
import { systemRandomness } from './randomness.ts';
import { githubWebhookSecrets, type SecretText, slackSigningSecrets } from './settings/secrets.ts';
import { readSettings, type Settings } from './settings/settings.ts';
import { bindingsFor } from './shipped-bindings.ts';
import { FileSourceLocations } from './sources/source-locations.ts';
import { storesOn } from './stores.ts';
import { configuredTelemetry } from './telemetry/configured.ts';
import { InstanceMetrics } from './telemetry/instance-metrics.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { tracedQueue } from './telemetry/traced-queue.ts';
import { packageVersion } from './version.ts';

export interface Root {
  readonly engine: EngineDeps;
  /** Engine with the time limit of this pool's functions. */
  readonly engineOf: (pool: string | undefined) => EngineDeps;
  readonly github: GithubDeps;
  readonly slack: SlackDeps;
  readonly api: ApiDeps;
  readonly schedules: TickDeps;
  readonly retention: DeletionDeps;
  readonly messages: PubsubDeps;
  readonly sample: SampleDeps;
  readonly statistics: RunStatistics;
  readonly restore: HomeDeps;
  /** For the scheduled functions. */
  readonly heartbeat: HeartbeatDeps;
  /** Undefined if no collector is configured. */
  readonly telemetry: Telemetry | undefined;
  /** Connects the clients that a dispatch needs. Otherwise they connect at their first use. */
  readonly connect: readonly (() => Promise<unknown>)[];
}

const roots = new WeakMap<CairnInstallation, Promise<Root>>();

/** Returns the same root for every function of the instance. @throws Error if the settings of the installation are invalid */
export function compose(installation: CairnInstallation): Promise<Root> {
  const known = roots.get(installation);
  if (known) return known;
  const root = composed(installation);
  roots.set(installation, root);
  // The next request tries again, because the error may be temporary.
  root.catch(() => roots.delete(installation));
  return root;
}

async function composed(installation: CairnInstallation): Promise<Root> {
  const { options } = installation;
  const [module, workflows, own] = await Promise.all([
    servedModule(),
    resolved(options.workflows),
    resolved(options.bindings ?? []),
  ]);
  const namesOf = ({ members }: CairnInstallation) => functionNames(members, module, runningFunction());
  const names = namesOf(installation);
  assertApart(servedInstallations().map((each) => ({ installation: each, drive: namesOf(each).drive })));
  const settings = readSettings(options, names);
  const registry = new WorkflowRegistry(workflows);
  const bindings = new Bindings(bindingsFor(options, own));
  bindings.assertBound(registry);
  assertDrivesFit(options, workflows);
  const secrets = boundSecrets(options, names);
  return rootOf({ settings, options, registry, bindings, secrets, log: platformLog });
}

async function resolved<T extends readonly unknown[]>(lazily: Lazily<T>): Promise<T> {
  return typeof lazily === 'function' ? lazily() : lazily;
}

/**
 * Registers with {@link compose} an installation beside one that the codebase exports: with its names and settings, except for the given
 * ones, and with a log of its own.
 *
 * @throws Error if the settings of the exported one are invalid
 */
export async function composeBeside(
  exported: CairnInstallation,
  beside: CairnInstallation,
  { log, ...own }: Partial<Settings> & { readonly log: Log },
): Promise<void> {
  const { options } = beside;
  const names = functionNames(exported.members, await servedModule(), runningFunction());
  const settings = { ...readSettings(exported.options, names), ...own };
  const registry = new WorkflowRegistry(await resolved(options.workflows));
  const bindings = new Bindings([]);
  const root = rootOf({ settings, options, registry, bindings, secrets: boundSecrets(options, names), log });
  roots.set(beside, Promise.resolve(root));
}

interface RootParts {
  readonly settings: Settings;
  readonly options: CairnOptions;
  readonly registry: WorkflowRegistry;
  readonly bindings: Bindings;
  readonly secrets: BoundSecrets;
  readonly log: Log;
}

function rootOf(parts: RootParts): Root {
  const { settings, options, registry } = parts;
  const { environment } = settings;
  const adapters = adaptersOf(parts);
  const { world, start, stores, home, runtime, telemetry } = adapters;
  const { mailboxes, statistics } = stores;
  const { diagnosis, heartbeat } = diagnosisOf({ ...parts, ...adapters });
  const retentionOf = retentionIn(registry, daysToMs(settings.retentionDays));
  const engine = engineOn(parts, adapters);
  return {
    engine,
    engineOf: (pool) => {
      const budgetMs = budgetOf(driveTimeoutS(options, pool));
      return { ...engine, settings: { ...engine.settings, budgetMs } };
    },
    ...webhooksOf(settings, { ...start, environment }),
    api: {
      ...stores,
      ...start,
      runtime,
      retentionOf,
      environment,
      diagnosis,
      shutdown,
      home,
      counts: adapters.counts,
      clientRegistry: stores.clients,
      dayLimits: adapters.limitsOf,
      tokens: tokensFor(settings),
      rateLimit: rateLimitOf(settings),
      // The local cloud does not limit concurrent requests.
      concurrency: settings.local ? undefined : API_CONCURRENCY,
      heartbeatMs: engine.settings.heartbeatMs,
      version: packageVersion(),
    },
    restore: { ...world, config: stores.config, home },
    retention: {
      ...world,
      runtime,
      mailboxes,
      retentionOf,
      retention: stores.retention,
      erasures: stores.erasures,
      store: stores.runs,
      graceMs: deletionGraceMs(options),
    },
    schedules: {
      ...start,
      environment,
      schedules: stores.schedules,
      declaredTenant: settings.scheduleTenant,
    },
    messages: { ...start, mailboxes, environment, tenantId: settings.pubsubTenant },
    sample: {
      ...start,
      statistics,
      reader: stores.integrity,
      payloads: stores.runs,
      sample: stores.sample,
      problems: telemetry,
    },
    statistics,
    heartbeat,
    telemetry,
    connect: adapters.connect,
  };
}

/** The adapters of an instance, in the form for every function that starts runs. */
function adaptersOf({ settings, options, registry, bindings, log }: RootParts) {
  const operations = new InstanceOperations(systemClock);
  const { db, commits } = firestoreOf(settings, operations);
  const stores = storesOn(db, settings, commits);
  const counts = new InstanceMetrics();
  const { telemetry, tracer } = configuredTelemetry(settings) ?? {};
  const metrics = telemetry ? countedTwice(counts, telemetry) : counts;
  const world = { clock: systemClock, random: systemRandomness, log, metrics, tracer, assertIntact };
  const queue = lazyQueue({ settings, ...world });
  const start: StartDeps = {
    ...world,
    registry,
    bindings,
    shards: settings.shards,
    store: stores.runs,
    records: stores.records,
    queue: telemetry ? tracedQueue({ queue, counts: telemetry, tracer }) : queue,
    recent: new RecentStarts(),
    plans: new KnownPlans({ store: stores.plans, ...world }),
    ...(settings.local ? { processingLockMs: LOCAL_PROCESSING_LOCK_MS } : {}),
    bus: lazyBus({ settings, ...world }),
    poolOf: poolsOf(options),
  };
  const home = `projects/${settings.project}/databases/${settings.database}`;
  const runtime = new CachedRuntimeConfig(stores.config, systemClock, home);
  const connect = [commits.connect, queue.connect];
  const limitsOf = dayLimits(options.budgets);
  return { db, operations, stores, counts, telemetry, world, start, home, runtime, limitsOf, connect };
}

function engineOn(
  { settings, options }: RootParts,
  { start, stores, runtime, limitsOf }: ReturnType<typeof adaptersOf>,
): EngineDeps {
  const { mailboxes, effects, findings, dayBudgets } = stores;
  return {
    ...start,
    otherRuns: otherRuns(start),
    mailboxes,
    runtime,
    effects,
    findings,
    callPolicy: options.callPolicy,
    dayBudgets,
    dayLimits: limitsOf,
    sources: new FileSourceLocations(),
    admitBody: settings.local ? admitNewBody : undefined,
    settings: engineSettings(settings),
    shutdown,
  };
}

/** Firestore clients: `commits` sends the commits of runs, `db` everything else. */
function firestoreOf({ project, database, firestoreHost, wireHosts }: Settings, tally: InstanceOperations) {
  const wire = wireTo(firestoreHost, wireHosts);
  return {
    db: firestoreClient({ project, database, tally, wire }),
    commits: lazyCommitChannel({ project, database, emulator: firestoreHost, wire, tally }),
  };
}

function engineSettings({ local, leaseMs, heartbeatMs }: Settings): EngineSettings {
  if (!local) return PRODUCTION_SETTINGS;
  return {
    ...LOCAL_SETTINGS,
    leaseMs: leaseMs ?? LOCAL_SETTINGS.leaseMs,
    heartbeatMs: heartbeatMs ?? LOCAL_SETTINGS.heartbeatMs,
  };
}

/** Secrets and tenants are read with each request, because parameters have values then. */
function webhooksOf(
  { githubTenants, slackTenants }: Settings,
  shared: StartDeps & Pick<SlackDeps, 'environment'>,
): Pick<Root, 'github' | 'slack'> {
  return {
    github: {
      ...shared,
      secrets: () => secretsOf(githubWebhookSecrets()),
      tenants: () => githubTenantsIn(githubTenants),
    },
    slack: {
      ...shared,
      secrets: () => secretsOf(slackSigningSecrets()),
      tenants: () => tenantsIn(slackTenants),
    },
  };
}

const secretsOf = ({ name, text }: SecretText) => secretsIn(name, text);

function daysToMs(days: number | undefined): number | undefined {
  return days === undefined ? undefined : days * 24 * 3_600_000;
}

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

/** Counts everything twice: for readers of the API and for the collector. */
function countedTwice(first: Metrics, second: Metrics): Metrics {
  return wrapCalls(first, (call) => {
    call(first);
    return call(second);
  });
}
