/**
 * External figures of the simulator: documented limits and prices, settings of a deployment, and assumptions where nothing is
 * documented. docs/scale.md and docs/prices.md show this table.
 */

/** Stored copies of the pages were read on this day; the copies do not all say how old they are. */
export const SEEN = '2026-11-23';

/** `transcribed`: from a third-party copy of the owner's page, not from the page itself. */
type Basis = 'documented' | 'transcribed' | 'deployed' | 'measured' | 'assumed';

export interface Figure {
  readonly value: number;
  readonly unit: string;
  readonly basis: Basis;
  /** Address, file of this repository, or why there is none. */
  readonly source: string;
}

const figure = (value: number, unit: string, basis: Basis, source: string): Figure => ({
  value,
  unit,
  basis,
  source,
});

const BEST_PRACTICES = 'https://firebase.google.com/docs/firestore/best-practices';
const QUOTAS =
  'https://qiita.com/Masataka-n/items/ed7e76bde05b9d83e41c, which transcribes https://cloud.google.com/firestore/quotas; newer copies of that page were found without it';
const TASKS_API =
  'https://docs.cloud.google.com/dotnet/docs/reference/Google.Cloud.Tasks.V2/latest/Google.Cloud.Tasks.V2.RateLimits';
const AUTOSCALING = 'https://cloud.google.com/run/docs/about-instance-autoscaling';
const NO_FIGURE = 'Google documents none; `--read-ms`, `--commit-ms`';
const DEPLOYED = 'packages/cairn/src/platform/installation/deployed-functions.ts';
const PARAMETERS = 'packages/cairn/src/platform/settings/parameters.ts';
const SCALE = 'docs/scale.md';
const PERFORMANCE = 'docs/performance.md';

export const LIMITS = {
  rampStart: figure(500, 'operations a second on a new collection', 'documented', BEST_PRACTICES),
  rampGrowth: figure(1.5, 'times as many each step', 'documented', BEST_PRACTICES),
  rampStepMs: figure(300_000, 'ms a step', 'documented', BEST_PRACTICES),
  rangePerSecond: figure(500, 'writes a second on an index of a growing value', 'documented', BEST_PRACTICES),
  documentPerSecond: figure(1, 'writes a second to one document, sustained', 'transcribed', QUOTAS),
  documentBurst: figure(
    10,
    'writes to one document at once',
    'assumed',
    'no figure for a burst is documented; the tests of the engine allow ten in ten seconds',
  ),
  regionalReadMs: figure(10, 'ms, median of a read in one region', 'assumed', NO_FIGURE),
  regionalCommitMs: figure(25, 'ms, median of a commit in one region', 'assumed', NO_FIGURE),
  nam5ReadMs: figure(25, 'ms, median of a read in nam5', 'assumed', NO_FIGURE),
  nam5CommitMs: figure(75, 'ms, median of a commit in nam5', 'assumed', NO_FIGURE),
  latencySpread: figure(
    0.5,
    'sigma of the lognormal latency: the 99th percentile is 3.2 medians',
    'assumed',
    NO_FIGURE,
  ),
  queueDispatches: figure(500, 'dispatches a second of one queue', 'documented', TASKS_API),
  queueConcurrentMost: figure(
    5_000,
    'dispatches at a time that a queue may be given',
    'documented',
    'node_modules/@google-cloud/tasks/build/protos/google/cloud/tasks/v2/queue.proto',
  ),
  queueConcurrent: figure(2_000, 'dispatches at a time of one queue', 'deployed', PARAMETERS),
  queues: figure(1, 'queues of `drive`', 'deployed', PARAMETERS),
  queuesPerTenant: figure(2, 'of these, those of one tenant', 'deployed', PARAMETERS),
  queueBurst: figure(
    100,
    'dispatches at once after a rest',
    'assumed',
    'Cloud Tasks picks it by the rate and names no figure',
  ),
  queueDispatchMs: figure(20, 'ms from a task to its dispatch', 'assumed', 'Google documents none'),
  minBackoffMs: figure(100, 'ms, first back-off of a refused task', 'deployed', DEPLOYED),
  maxBackoffMs: figure(60_000, 'ms, longest back-off', 'deployed', DEPLOYED),
  driveConcurrency: figure(80, 'dispatches an instance serves at a time', 'deployed', PARAMETERS),
  driveInstances: figure(100, 'instances of `drive` at most', 'deployed', PARAMETERS),
  apiConcurrency: figure(
    80,
    'requests an instance of `api` serves at a time',
    'documented',
    'https://docs.cloud.google.com/run/docs/about-concurrency',
  ),
  apiInstances: figure(20, 'instances of `api` at most', 'deployed', PARAMETERS),
  pendingMs: figure(10_000, 'ms a request waits for an instance before 429', 'documented', AUTOSCALING),
  scaleEveryMs: figure(5_000, 'ms between two looks of the autoscaler', 'documented', AUTOSCALING),
  cpuTarget: figure(
    0.6,
    'of the processors may be used before there are more instances',
    'documented',
    AUTOSCALING,
  ),
  coldStartMs: figure(
    2_000,
    'ms until a new instance serves',
    'assumed',
    `0.3 s of it is measured (${PERFORMANCE}), the rest is the platform's`,
  ),
  requestCpuMs: figure(
    0.85,
    'ms of a processor for each request to Firestore',
    'measured',
    '11.6 ms for a run of ten steps, 2026-11-23; less since',
  ),
  startCpuMs: figure(
    3,
    'ms of a processor to take in a start',
    'measured',
    'at most 5 ms until a start was committed, 2026-11-23',
  ),
  scanEveryMs: figure(60_000, 'ms between two ticks of the scan', 'deployed', DEPLOYED),
  scanPerSecond: figure(
    222,
    'runs a second that the scan handles',
    'measured',
    '10,000 in 45 s, 2026-11-23; less since',
  ),
  scanForMs: figure(45_000, 'ms that one tick of the scan works', 'deployed', SCALE),
  shards: figure(
    16,
    'shards of the indexes over times',
    'deployed',
    'packages/cairn/src/platform/settings/parameters.ts',
  ),
} as const satisfies Readonly<Record<string, Figure>>;

const FIRESTORE_PRICES = 'https://firebase.google.com/docs/firestore/pricing';
const RUN_PRICES = 'https://cloud.google.com/run/pricing';

/** US dollars. */
export const PRICES = {
  regionalRead: figure(
    0.03 / 100_000,
    'a read in one region; the page found shows us-west1, and us-central1 is taken to cost the same',
    'documented',
    FIRESTORE_PRICES,
  ),
  regionalWrite: figure(0.09 / 100_000, 'a write', 'documented', FIRESTORE_PRICES),
  regionalDelete: figure(0.01 / 100_000, 'a delete', 'documented', FIRESTORE_PRICES),
  regionalGibMonth: figure(0.15, 'a GiB stored for a month', 'documented', FIRESTORE_PRICES),
  nam5Read: figure(0.06 / 100_000, 'a read in nam5', 'documented', FIRESTORE_PRICES),
  nam5Write: figure(0.18 / 100_000, 'a write', 'documented', FIRESTORE_PRICES),
  nam5Delete: figure(0.02 / 100_000, 'a delete', 'documented', FIRESTORE_PRICES),
  nam5GibMonth: figure(0.18, 'a GiB stored for a month', 'documented', FIRESTORE_PRICES),
  taskOperation: figure(
    0.4 / 1_000_000,
    'an operation of Cloud Tasks: a task made, or a dispatch',
    'documented',
    'https://cloud.google.com/tasks/docs/pricing',
  ),
  cpuSecond: figure(0.000024, 'a vCPU-second while requests are served', 'documented', RUN_PRICES),
  gibSecond: figure(
    0.0000025,
    'a GiB-second while requests are served',
    'transcribed',
    'https://cloudwebschool.com/tools/cloud-run-cost-calculator/',
  ),
  request: figure(
    0.4 / 1_000_000,
    'a request of Cloud Run',
    'transcribed',
    'https://cloudwebschool.com/tools/cloud-run-cost-calculator/',
  ),
  logGib: figure(0.5, 'a GiB of logs', 'documented', 'https://cloud.google.com/stackdriver/pricing'),
  egressGib: figure(
    0.12,
    'a GiB to the internet',
    'transcribed',
    'https://cloudwebschool.com/tools/cloud-run-cost-calculator/',
  ),
  requestLogBytes: figure(
    1_000,
    'bytes of the line that Cloud Run logs for each request',
    'assumed',
    'Google documents none',
  ),
  answerBytes: figure(
    1_000,
    'bytes of the answer to a start',
    'assumed',
    "a start is answered with the run's id and status",
  ),
} as const satisfies Readonly<Record<string, Figure>>;

/** An instance has one vCPU and this much memory (`DRIVE_MEMORY_MB`, `API_MEMORY_MB`). */
export const INSTANCE_GIB = 1;
