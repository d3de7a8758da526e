/** What an instance keeps between requests: answers that serve several callers, and who waits for whom. */
import { Diagnostician } from '../operations/diagnosis/diagnose.ts';
import { CountedRuns } from '../operations/search/run-counts.ts';
import type { ApiDeps } from './deps.ts';
import { ApiDocument } from './routes/installation/api-document.ts';
import { Health } from './routes/installation/health.ts';
import { ActiveRunCounts } from './routes/metrics/active-run-counts.ts';
import { StreamPlaces } from './routes/stream/places.ts';
import { Turnstile } from './turnstile.ts';

/** What an instance of 1 GiB bears of starts with up to 32 MiB; measured, 450 MiB for the one that is handled. */
const LARGE_STARTS = { passing: 1, waiting: 2 };
/** Beside it, two reads of 32 MiB, about 100 each; who waits for a read holds nothing. */
const LARGE_READS = { passing: 2, waiting: 20 };
/** Of the 80 requests an instance takes at once, half are left for what does not stay. */
const STREAMS = { ofAll: 40, ofOneTenant: 10 };

export interface Instance {
  /** Requests with large bodies. */
  readonly starts: Turnstile;
  /** Reads of large outputs. */
  readonly reads: Turnstile;
  readonly places: StreamPlaces;
  readonly health: Health;
  readonly document: ApiDocument;
  readonly activeRuns: ActiveRunCounts;
  readonly runCounts: CountedRuns;
  readonly diagnostician: Diagnostician;
}

export function newInstance(deps: ApiDeps): Instance {
  const { start, census, schedules, config, registry, diagnosis, finder, version } = deps;
  const { clock, log, plans } = start;
  return {
    starts: new Turnstile(LARGE_STARTS),
    reads: new Turnstile(LARGE_READS),
    places: new StreamPlaces(STREAMS),
    health: new Health(deps),
    document: new ApiDocument(version),
    activeRuns: new ActiveRunCounts(deps),
    runCounts: new CountedRuns(finder, clock),
    diagnostician: new Diagnostician({
      ...diagnosis,
      census,
      schedules,
      config,
      registry,
      plans,
      clock,
      log,
    }),
  };
}
