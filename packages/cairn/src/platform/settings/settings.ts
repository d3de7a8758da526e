/** Settings of an installation, from its code, its parameters, and the environment that the local cloud makes. */
import { LONGEST_DRIVE_S } from '../../core/drive-time.ts';
import { MAX_SHARDS, SHARD_COUNT } from '../../core/encoding/ids.ts';
import { MAX_QUEUES, type QueueSpread } from '../../core/encoding/queue-place.ts';
import type { DriveQueues, QueueTarget } from '../../queue/cloud-tasks-queue.ts';
import type { GithubTenantParameters } from '../../triggers/github/tenants.ts';
import { driveTimeoutS } from '../installation/drive-classes.ts';
import type { FunctionNames } from '../installation/exported-names.ts';
import { aloneMember, driveMember } from '../installation/installation.ts';
import type { CairnOptions } from '../installation/options.ts';
import { collectionPrefixOf } from './collection-prefix.ts';
import {
  apiRateLimit,
  database,
  driveQueues,
  driveQueuesPerTenant,
  environment,
  githubTenant,
  githubTenants,
  otlpEndpoint,
  otlpHeaders,
  pubsubTenant,
  region,
  retentionDays,
  runEventsTopic,
  runShards,
  scheduleTenant,
  serviceAccount,
  slackTenants,
  traceRatio,
  traceSampler,
} from './parameters.ts';

type GivenOptions = Omit<CairnOptions, 'workflows' | 'bindings'>;

export interface Settings {
  readonly project: string;
  readonly region: string;
  /** Id of the Firestore database. */
  readonly database: string;
  readonly collectionPrefix: string;
  readonly environment: string;
  /** Raw values: parsed on use, so that an invalid one affects only its endpoint. */
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
  /** The queue of the functions that move runs, and the one of those whose worker died. */
  readonly drive: DriveQueues;
  /** Likewise for workflows that have functions of their own, by the name of the class. */
  readonly pools: Readonly<Record<string, DriveQueues>>;
  /** `host:port` of a task queue that speaks plain text; undefined: Google's. */
  readonly tasksHost: string | undefined;
  /** `host:port` of a Pub/Sub that speaks plain text; undefined: Google's. */
  readonly pubsubHost: string | undefined;
  /** `host:port` of a Firestore that speaks plain text; undefined: Google's. */
  readonly firestoreHost: string | undefined;
  /** Hosts among these that the local cloud serves by frames (clients/wire.ts). */
  readonly wireHosts: ReadonlySet<string>;
  /** Requests a second of one caller of the API at one instance; undefined: no limit. */
  readonly apiRateLimit: number | undefined;
  /** True if ID tokens are those of the Auth emulator, which are unsigned. */
  readonly authEmulator: boolean;
  /** The given value; undefined: nothing is sent. */
  readonly otlpEndpoint: string | undefined;
  /** The given value. */
  readonly otlpHeaders: string;
  readonly traceSampler: string;
  readonly traceRatio: string;
  /** Platform name of this function; undefined if it has none. */
  readonly service: string | undefined;
  /** Shards that documents are written with. */
  readonly shards: number;
  /** Lease of the local cloud in ms, for tests that wait for one; undefined: as deployed. */
  readonly leaseMs: number | undefined;
  /** Longest time between two heartbeats on the local cloud in ms, to measure as deployed; undefined: as usual there. */
  readonly heartbeatMs: number | undefined;
  /** True on the local cloud. */
  readonly local: boolean;
}

/** @throws Error if the platform did not say which project this is, or the functions that move runs are not exported */
export function readSettings(options: GivenOptions, names: FunctionNames): Settings {
  const { env } = process;
  const project = env.GCLOUD_PROJECT ?? env.GOOGLE_CLOUD_PROJECT;
  if (!project) throw new Error('GCLOUD_PROJECT is not set');
  const name = typeof options.region === 'object' ? options.region.value() : options.region;
  const where = name || region.value();
  const local = env.CAIRN_LOCAL === '1';
  const functionsUrl = env.CAIRN_FUNCTIONS_URL || `https://${where}-${project}.cloudfunctions.net`;
  const spread = spreadOf(driveQueues.value(), driveQueuesPerTenant.value());
  const queuesOf = (pool?: string): DriveQueues => ({
    ...deadlineFor(driveTimeoutS(options, pool)),
    shared: target(functionsUrl, nameOf(names, driveMember(pool))),
    alone: target(functionsUrl, nameOf(names, aloneMember(pool))),
    spread,
  });
  const { github, slack, drives = {} } = options;
  const { tenants = githubTenants.value(), tenant = githubTenant.value() } = chosen(github);
  return {
    project,
    region: where,
    database: options.database ?? database.value(),
    collectionPrefix: collectionPrefixOf(options.collectionPrefix, nameOf(names, driveMember())),
    environment: options.environment ?? environment.value(),
    githubTenants: { listed: tenants, others: tenant },
    slackTenants: chosen(slack).tenants ?? slackTenants.value(),
    retentionDays: retentionDays.value() <= 0 ? undefined : retentionDays.value(),
    scheduleTenant: scheduleTenant.value(),
    pubsubTenant: pubsubTenant.value(),
    runEventsTopic: (options.runEventsTopic ?? runEventsTopic.value()) || undefined,
    serviceAccount: serviceAccount.value() || undefined,
    drive: queuesOf(),
    shards: shardsOf(runShards.value()),
    pools: Object.fromEntries(Object.keys(drives).map((pool) => [pool, queuesOf(pool)])),
    tasksHost: env.CAIRN_TASKS_HOST || undefined,
    pubsubHost: env.PUBSUB_EMULATOR_HOST || undefined,
    firestoreHost: env.FIRESTORE_EMULATOR_HOST || undefined,
    wireHosts: new Set(local ? (env.CAIRN_WIRE_HOSTS ?? '').split(',') : []),
    // A storm on the local cloud is a test.
    apiRateLimit: local || apiRateLimit.value() <= 0 ? undefined : apiRateLimit.value(),
    otlpEndpoint: otlpEndpoint.value() || undefined,
    otlpHeaders: otlpHeaders.value(),
    traceSampler: traceSampler.value() || 'parentbased_traceidratio',
    traceRatio: traceRatio.value() || '1',
    service: env.K_SERVICE || undefined,
    authEmulator: Boolean(env.FIREBASE_AUTH_EMULATOR_HOST),
    leaseMs: local ? msOf(env.CAIRN_LEASE_MS) : undefined,
    heartbeatMs: local ? msOf(env.CAIRN_HEARTBEAT_MS) : undefined,
    local,
  };
}

function msOf(given: string | undefined): number | undefined {
  return Number(given) > 0 ? Number(given) : undefined;
}

/** @throws Error naming the parameter: a misread number would put tasks into the wrong queues */
function spreadOf(queues: number, perTenant: number): QueueSpread {
  if (queues < 1 || queues > MAX_QUEUES)
    throw new Error(`DRIVE_QUEUES is ${queues}; it is a whole number from 1 to ${MAX_QUEUES}`);
  if (perTenant < 0)
    throw new Error(`DRIVE_QUEUES_PER_TENANT is ${perTenant}; it is a whole number from 0 (all of them)`);
  return { queues, perTenant };
}

/** @throws Error naming the parameter */
function shardsOf(shards: number): number {
  if (shards < SHARD_COUNT || shards > MAX_SHARDS)
    throw new Error(`RUN_SHARDS is ${shards}; it is a whole number from ${SHARD_COUNT} to ${MAX_SHARDS}`);
  return shards;
}

/** Default timeout of Cloud Tasks for an answer. */
const DEFAULT_DEADLINE_S = 600;

/** The service must not deliver again what a function is still at. */
const deadlineFor = (timeoutS: number): { deadlineS?: number } =>
  timeoutS < DEFAULT_DEADLINE_S ? {} : { deadlineS: LONGEST_DRIVE_S };

const target = (functionsUrl: string, name: string): QueueTarget => ({
  name,
  targetUrl: `${functionsUrl}/${name}`,
});

/** An option that is only `true` leaves its members to the parameters. */
function chosen<T extends object>(choice: boolean | T | undefined): Partial<T> {
  return typeof choice === 'object' ? choice : {};
}

function nameOf(names: FunctionNames, member: string): string {
  const name = names[member];
  if (name === undefined)
    throw new Error(`the function '${member}' of cairnFunctions is not exported, so nothing can call it`);
  return name;
}
