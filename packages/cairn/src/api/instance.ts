/**
 * State that an instance keeps between requests: responses shared by several callers, and queues of waiting requests.
 */
import { Diagnostician } from '../operations/diagnosis/diagnose.ts';
import { IndexedRuns } from '../operations/search/indexed-runs.ts';
import { CountedRuns } from '../operations/search/run-counts.ts';
import type { ApiDeps } from './deps.ts';
import { LARGE_READS, LARGE_STARTS, LISTS, LOCAL_STREAMS, MEDIUM_STARTS, STREAMS } from './limits.ts';
import { ApiDocument } from './routes/installation/api-document.ts';
import { HealthProbe } from './routes/installation/health.ts';
import { ActiveRunCounts } from './routes/metrics/read-metrics.ts';
import { StreamPlaces } from './routes/stream/places.ts';
import { Semaphore } from './semaphore.ts';

export type Instance = ReturnType<typeof newInstance>;

export function newInstance(deps: ApiDeps) {
  const { diagnosis, finder, clock, version, concurrency } = deps;
  return {
    /** For requests with large bodies. */
    starts: new Semaphore(LARGE_STARTS),
    mediumStarts: new Semaphore(MEDIUM_STARTS),
    reads: new Semaphore(LARGE_READS),
    lists: new Semaphore(LISTS),
    places: new StreamPlaces(concurrency === undefined ? LOCAL_STREAMS : STREAMS),
    health: new HealthProbe(deps),
    document: new ApiDocument(version),
    activeRuns: new ActiveRunCounts(deps),
    runCounts: new CountedRuns(finder, clock),
    indexedRuns: new IndexedRuns(finder, clock),
    diagnostician: new Diagnostician({ ...deps, ...diagnosis }),
  };
}
