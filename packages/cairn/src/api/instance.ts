/**
 * State that an instance keeps between requests: responses shared by several callers, and queues of waiting requests.
 */
import { Diagnostician } from '../operations/diagnosis/diagnose.ts';
import { IndexedRuns } from '../operations/search/indexed-runs.ts';
import { CountedRuns } from '../operations/search/run-counts.ts';
import type { ApiDeps } from './deps.ts';
import { ApiDocument } from './routes/installation/api-document.ts';
import { HealthProbe } from './routes/installation/health.ts';
import { ActiveRunCounts } from './routes/metrics/active-run-counts.ts';
import { StreamPlaces } from './routes/stream/places.ts';
import { Semaphore } from './semaphore.ts';
import { API_CONCURRENCY } from './tenant-shares.ts';

/** Starts with up to 32 MiB on an instance of 1 GiB. Handling one takes 450 MiB (measured). */
const LARGE_STARTS = { of: 'large starts', running: 1, waiting: 3 };
/**
 * Starts with 256 KiB to 1 MiB, of which a processor takes 20 to 80 ms for each. One tenant has three at a time, so that others still get
 * most of the processor. An instance has no more requests than may wait.
 */
const MEDIUM_STARTS = { of: 'starts', running: 4, waiting: 2 * API_CONCURRENCY };
/** Besides that start, two reads of 32 MiB, at about 100 MiB each, one of a tenant. A request that waits for its turn holds no memory. */
const LARGE_READS = { of: 'reads of large outputs', running: 2, waiting: 28 };
/**
 * Requests that read many documents, which takes a processor some 50 ms each. One tenant has three at a time, so that others still get
 * most of the processor, and 60 that wait.
 */
const LISTS = { of: 'lists', running: 4, waiting: API_CONCURRENCY };
/** Half of the concurrent requests of an instance are reserved for short requests. */
const STREAMS = { ofAll: API_CONCURRENCY / 2, ofOneTenant: 10 };

export interface Instance {
  /** Requests with large bodies. */
  readonly starts: Semaphore;
  readonly mediumStarts: Semaphore;
  readonly reads: Semaphore;
  readonly lists: Semaphore;
  readonly places: StreamPlaces;
  readonly health: HealthProbe;
  readonly document: ApiDocument;
  readonly activeRuns: ActiveRunCounts;
  readonly runCounts: CountedRuns;
  readonly indexedRuns: IndexedRuns;
  readonly diagnostician: Diagnostician;
}

export function newInstance(deps: ApiDeps): Instance {
  const { start, statistics, schedules, config, registry, diagnosis, finder, version } = deps;
  const { clock, log, plans } = start;
  return {
    starts: new Semaphore(LARGE_STARTS),
    mediumStarts: new Semaphore(MEDIUM_STARTS),
    reads: new Semaphore(LARGE_READS),
    lists: new Semaphore(LISTS),
    places: new StreamPlaces(STREAMS),
    health: new HealthProbe(deps),
    document: new ApiDocument(version),
    activeRuns: new ActiveRunCounts(deps),
    runCounts: new CountedRuns(finder, clock),
    indexedRuns: new IndexedRuns(finder, clock),
    diagnostician: new Diagnostician({
      ...diagnosis,
      statistics,
      schedules,
      config,
      registry,
      plans,
      clock,
      log,
    }),
  };
}
