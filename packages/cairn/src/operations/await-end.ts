/** Waits for the end of a run on behalf of a reader. */

import type { Clock } from '../ports/clock.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import type { RunWatch } from '../ports/runs/run-watch.ts';
import type { RunOfTenant } from './append-to-run.ts';
import { WatchReports } from './watch-reports.ts';

interface AwaitEndDeps {
  readonly watch: Pick<RunWatch, 'watchEnd'>;
  readonly clock: Clock;
}

interface AwaitedEnd extends RunOfTenant {
  readonly forMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

/** `none`: the tenant has no such run. `unknown`: the run has to be read, because the wait is over or the watch has reported only its end. */
export type AwaitEndResult = LoadedRun | 'none' | 'unknown';

/** Resolves when the run has ended, after `forMs`, or when the signal aborts. @throws what the watch has failed with */
export async function awaitEnd(
  { watch, clock }: AwaitEndDeps,
  { runId, tenantId, forMs, signal }: AwaitedEnd,
): Promise<AwaitEndResult> {
  const reports = new WatchReports<AwaitEndResult>(clock);
  const ended = reports.next(forMs, signal);
  const stop = watch.watchEnd(runId, {
    onFound(run) {
      if (run?.tenantId !== tenantId) reports.put('none');
    },
    onEnd: (run) => reports.put(reports.waiting ?? run ?? 'unknown'),
    onError: reports.fail,
  });
  return (await ended.finally(stop)) ?? 'unknown';
}
