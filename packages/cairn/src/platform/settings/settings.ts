/** Settings of an installation, from its code, its parameters, and the environment variables of the local cloud. */
import { LONGEST_DRIVE_S } from '../../core/drive-time.ts';
import { MAX_SHARDS, SHARD_COUNT } from '../../core/encoding/ids.ts';
import { MAX_QUEUES, type QueueSpread } from '../../core/encoding/queue-place.ts';
import type { DriveQueues, QueueTarget } from '../../queue/cloud-tasks-queue.ts';
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

export type Settings = Readonly<ReturnType<typeof readSettings>>;

/** @throws Error if the platform did not set the project, or the functions that dispatch runs are not exported */
export function readSettings(options: GivenOptions, names: FunctionNames) {
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
    // Raw values of tenants. They are parsed at use, so that an invalid one affects only its endpoint.
    githubTenants: { listed: tenants, others: tenant },
    slackTenants: chosen(slack).tenants ?? slackTenants.value(),
    /** Retention in days of runs whose workflow declares none; undefined: unlimited. */
    retentionDays: retentionDays.value() <= 0 ? undefined : retentionDays.value(),
    scheduleTenant: scheduleTenant.value(),
    pubsubTenant: pubsubTenant.value(),
    /** Undefined: run events are not published. */
    runEventsTopic: (options.runEventsTopic ?? runEventsTopic.value()) || undefined,
    /** Undefined: the metadata server is asked. */
    serviceAccount: serviceAccount.value() || undefined,
    /** Number of shards for written documents. */
    shards: shardsOf(runShards.value()),
    /** Queues of the functions that dispatch runs, and of the functions for runs whose worker died. */
    drive: queuesOf(),
    /** The same for workflows of a drive class, by the name of the class. */
    pools: Object.fromEntries(Object.keys(drives).map((pool) => [pool, queuesOf(pool)])),
    // `host:port` of plain-text servers; undefined: Google's.
    tasksHost: env.CAIRN_TASKS_HOST || undefined,
    pubsubHost: env.PUBSUB_EMULATOR_HOST || undefined,
    firestoreHost: env.FIRESTORE_EMULATOR_HOST || undefined,
    /** The hosts among these that the local cloud serves by frames (clients/wire.ts). */
    wireHosts: new Set(local ? (env.CAIRN_WIRE_HOSTS ?? '').split(',') : []),
    /** Requests per second of one API caller at one instance; undefined: no limit. On the local cloud a flood is a test. */
    apiRateLimit: local || apiRateLimit.value() <= 0 ? undefined : apiRateLimit.value(),
    /** Undefined: nothing is sent. */
    otlpEndpoint: otlpEndpoint.value() || undefined,
    otlpHeaders: otlpHeaders.value(),
    traceSampler: traceSampler.value() || 'parentbased_traceidratio',
    traceRatio: traceRatio.value() || '1',
    /** Platform name of this function; undefined if it has none. */
    service: env.K_SERVICE || undefined,
    /** True if ID tokens come from the Auth emulator and are unsigned. */
    authEmulator: Boolean(env.FIREBASE_AUTH_EMULATOR_HOST),
    /** Lease on the local cloud in ms, for tests that wait for one; undefined: as deployed. */
    leaseMs: local ? msOf(env.CAIRN_LEASE_MS) : undefined,
    /** Longest time between two heartbeats on the local cloud in ms, for measurements as deployed; undefined: its default. */
    heartbeatMs: local ? msOf(env.CAIRN_HEARTBEAT_MS) : undefined,
    local,
  };
}

function msOf(given: string | undefined): number | undefined {
  return Number(given) > 0 ? Number(given) : undefined;
}

/** @throws Error with the name of the parameter: a wrong number would put tasks into the wrong queues */
function spreadOf(queues: number, perTenant: number): QueueSpread {
  if (queues < 1 || queues > MAX_QUEUES)
    throw new Error(`DRIVE_QUEUES is ${queues}; it is a whole number from 1 to ${MAX_QUEUES}`);
  if (perTenant < 0)
    throw new Error(`DRIVE_QUEUES_PER_TENANT is ${perTenant}; it is a whole number from 0 (all of them)`);
  return { queues, perTenant };
}

/** @throws Error with the name of the parameter */
function shardsOf(shards: number): number {
  if (shards < SHARD_COUNT || shards > MAX_SHARDS)
    throw new Error(`RUN_SHARDS is ${shards}; it is a whole number from ${SHARD_COUNT} to ${MAX_SHARDS}`);
  return shards;
}

/** Default time that Cloud Tasks waits for a response. */
const DEFAULT_DEADLINE_S = 600;

/** The deadline exceeds the timeout of the function, so that Cloud Tasks does not redeliver a running dispatch. */
const deadlineFor = (timeoutS: number): { deadlineS?: number } =>
  timeoutS < DEFAULT_DEADLINE_S ? {} : { deadlineS: LONGEST_DRIVE_S };

const target = (functionsUrl: string, name: string): QueueTarget => ({
  name,
  targetUrl: `${functionsUrl}/${name}`,
});

/** The option `true` leaves all members to the parameters. */
function chosen<T extends object>(choice: boolean | T | undefined): Partial<T> {
  return typeof choice === 'object' ? choice : {};
}

function nameOf(names: FunctionNames, member: string): string {
  const name = names[member];
  if (name === undefined)
    throw new Error(`the function '${member}' of cairnFunctions is not exported, so nothing can call it`);
  return name;
}
