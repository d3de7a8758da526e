/** The flags of `npm run simulate`. Pure: reads a list of words, prints and exits nothing. */
import { MAX_SHARDS } from '../../packages/cairn/src/core/encoding/ids.ts';
import { MAX_QUEUES } from '../../packages/cairn/src/core/encoding/queue-place.ts';
import { flag, integer, parsed, text, UsageError } from '../arguments.ts';
import { LOCATIONS, type Location, type Plan } from './core/plan.ts';
import { LIMITS } from './limits.ts';
import type { Recorded } from './traffic/record.ts';

export interface SimulateArguments {
  readonly help: boolean;
  readonly json: boolean;
  /** Print the tables of the documents instead. */
  readonly tables: boolean;
  /** Write them into the documents. */
  readonly writeTables: boolean;
  readonly traffic: Recorded;
  readonly plan: Plan;
}

export const USAGE = `npm run simulate -- [options]

The load
  --rate N              starts a second (default 100)
  --steps N             steps of a run (default 10)
  --body TIME           how long the body of each step takes: 0, 250ms, 15s, 2m (default 0)
  --parallel            all steps at once; otherwise one after the other
  --tenants N           tenants that the starts come from (default 20)
  --flood N             starts a second that the first tenant adds (default 0)
  --for TIME            how long starts come (default 60s)
  --rest TIME           how long is waited afterwards (default 60s)
  --lost SHARE          share of first tasks that are lost, for the scan to find (default 0)

The installation
  --queues N            DRIVE_QUEUES (default ${LIMITS.queues.value})
  --queues-per-tenant N DRIVE_QUEUES_PER_TENANT (default ${LIMITS.queuesPerTenant.value}; 0: all)
  --queue-places N      DRIVE_QUEUE_PLACES (default ${LIMITS.queueConcurrent.value})
  --shards N            RUN_SHARDS (default ${LIMITS.shards.value})
  --instances N         DRIVE_MAX_INSTANCES (default ${LIMITS.driveInstances.value})
  --concurrency N       DRIVE_CONCURRENCY (default ${LIMITS.driveConcurrency.value})
  --api-instances N    PUBLIC_MAX_INSTANCES (default ${LIMITS.apiInstances.value})
  --cold                no instance runs at the begin

Google
  --location PLACE      ${LOCATIONS.join(', ')} (default regional)
  --new-database        without traffic before, so that it bears 500 operations a second and collection at first
  --read-ms N, --commit-ms N   median latencies, instead of the assumed ones
  --seed N              of what is drawn (default 1)

  --tables              print the tables of docs/scale.md and docs/prices.md
  --write-tables        write them into these documents
  --json                print nothing but a line of JSON
  --help                print this
`;

const MAX_RATE = 100_000;
const MAX_STEPS = 1_000;
const MAX_COUNT = 10_000;
/** A run takes about 2 KB and 20 µs of the simulation. */
const MAX_RUNS = 4_000_000;
const MAX_TIME_MS = 24 * 3_600_000;

export function readArguments(words: readonly string[]): SimulateArguments {
  const { help, json, tables, 'write-tables': writeTables, ...given } = parse(words);
  const location = oneOf<Location>('--location', given.location, LOCATIONS);
  const isNam5 = location === 'nam5';
  const plan: Plan = {
    rate: amount('--rate', given.rate, MAX_RATE),
    forMs: time('--for', given.for),
    restMs: time('--rest', given.rest),
    tenants: integer('--tenants', given.tenants, MAX_COUNT),
    flood: amount('--flood', given.flood, MAX_RATE),
    queues: integer('--queues', given.queues, MAX_QUEUES),
    queuesPerTenant:
      given['queues-per-tenant'] === '0'
        ? 0
        : integer('--queues-per-tenant', given['queues-per-tenant'], MAX_QUEUES),
    queueConcurrent: integer('--queue-places', given['queue-places'], LIMITS.queueConcurrentMost.value),
    shards: integer('--shards', given.shards, MAX_SHARDS),
    instances: integer('--instances', given.instances, MAX_COUNT),
    concurrency: integer('--concurrency', given.concurrency, 1_000),
    apiInstances: integer('--api-instances', given['api-instances'], MAX_COUNT),
    warm: given.cold ? 0 : undefined,
    location,
    isNew: given['new-database'],
    readMs: amount(
      '--read-ms',
      given['read-ms'] ?? `${(isNam5 ? LIMITS.nam5ReadMs : LIMITS.regionalReadMs).value}`,
      60_000,
    ),
    commitMs: amount(
      '--commit-ms',
      given['commit-ms'] ?? `${(isNam5 ? LIMITS.nam5CommitMs : LIMITS.regionalCommitMs).value}`,
      60_000,
    ),
    spread: LIMITS.latencySpread.value,
    lost: amount('--lost', given.lost, 1),
    seed: integer('--seed', given.seed, 2 ** 31 - 1),
  };
  if (plan.rate === 0) throw new UsageError('--rate must be more than 0');
  const runs = ((plan.rate + plan.flood) * plan.forMs) / 1000;
  if (runs > MAX_RUNS) {
    const most = MAX_RUNS.toLocaleString('en');
    throw new UsageError(
      `--for is too long: ${Math.round(runs).toLocaleString('en')} runs, and at most ${most} are simulated`,
    );
  }
  const traffic = {
    steps: integer('--steps', given.steps, MAX_STEPS),
    bodyMs: time('--body', given.body, LONGEST_BODY_MS),
    parallel: given.parallel,
  };
  return { help, json, tables, writeTables, traffic, plan };
}

/** A step declares a timeout a minute longer, and a drive allows 400 s. */
const LONGEST_BODY_MS = 300_000;

function parse(words: readonly string[]) {
  const limit = ({ value }: { readonly value: number }) => text(`${value}`);
  return parsed(words, {
    rate: text('100'),
    steps: text('10'),
    body: text('0'),
    parallel: flag,
    tenants: text('20'),
    flood: text('0'),
    for: text('60s'),
    rest: text('60s'),
    lost: text('0'),
    queues: limit(LIMITS.queues),
    'queues-per-tenant': limit(LIMITS.queuesPerTenant),
    'queue-places': limit(LIMITS.queueConcurrent),
    shards: limit(LIMITS.shards),
    instances: limit(LIMITS.driveInstances),
    concurrency: limit(LIMITS.driveConcurrency),
    'api-instances': limit(LIMITS.apiInstances),
    cold: flag,
    location: text('regional'),
    'new-database': flag,
    'read-ms': { type: 'string' },
    'commit-ms': { type: 'string' },
    seed: text('1'),
    tables: flag,
    'write-tables': flag,
    json: flag,
    help: flag,
  });
}

function oneOf<T extends string>(flag: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found) return found;
  throw new UsageError(`${flag} is ${known.join(' or ')}, not '${text}'`);
}

function amount(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= most) return value;
  throw new UsageError(`${flag} is a number from 0 to ${most}, not '${text}'`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function time(flag: string, text: string, most = MAX_TIME_MS): number {
  if (text === '0') return 0;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit ?? ''] ?? Number.NaN);
  if (ms <= most) return ms;
  throw new UsageError(`${flag} is a time up to ${most / 1000}s such as 250ms, 15s or 2m, not '${text}'`);
}
