/** `GET /v1/runs/{id}?wait=…`: returns the run once it has ended, or its current state after the wait. A waiting request counts as a stream. */
import { isRunId } from '../../../core/encoding/ids.ts';
import { isOver } from '../../../core/run/state.ts';
import { runNotFound } from '../../../operations/append-to-run.ts';
import { WatchReports } from '../../../operations/follow/watch-reports.ts';
import type { LoadedRun } from '../../../ports/run-store.ts';
import type { RouteCall } from '../../route.ts';
import { ownRun } from '../own-run.ts';

type RunCall = RouteCall<'GET /v1/runs/{id}'>;

/**
 * The watch also reports whether the run exists, so the run is not read first.
 *
 * @throws CairnError INVALID_INPUT, RUN_NOT_FOUND; RATE_LIMITED or UNAVAILABLE if no stream may be opened
 */
export async function ownRunAfterWait(call: RunCall): Promise<LoadedRun> {
  const forMs = call.query.wait;
  if (forMs === 0 || call.request.method === 'HEAD' || !isRunId(call.params.id)) return ownRun(call);
  const { leave, refusal } = placeOf(call);
  if (!leave) {
    const run = await ownRun(call);
    if (isOver(run.state)) return run;
    throw refusal;
  }
  const result = await resultOf(call, forMs).finally(leave);
  if (result === 'none') throw runNotFound();
  return result === 'unknown' ? ownRun(call) : result;
}

/** The refusal is kept, because a run that has ended is returned without a place too. */
function placeOf({ instance, caller }: RunCall): { leave?: () => void; refusal?: unknown } {
  try {
    return { leave: instance.places.take(caller.tenantId) };
  } catch (refusal) {
    return { refusal };
  }
}

/** `none`: the tenant has no such run. `unknown`: the run must be read, because the wait is over or the watch reported only that it ended. */
type AwaitEndResult = LoadedRun | 'none' | 'unknown';

async function resultOf({ deps, caller, params, request }: RunCall, forMs: number): Promise<AwaitEndResult> {
  const { clock, log, shutdown, watch } = deps;
  const runId = params.id;
  const reports = new WatchReports<AwaitEndResult>(clock);
  // A caller that disconnected frees its place, because it may have sent the request again.
  const ended = reports.next(forMs, AbortSignal.any([request.signal, shutdown]));
  try {
    const stop = watch.watchEnd(runId, {
      onFound(run) {
        if (run?.tenantId !== caller.tenantId) reports.put('none');
      },
      onEnd: (run) => reports.put(reports.waiting ?? run ?? 'unknown'),
      onError: reports.fail,
    });
    return (await ended.finally(stop)) ?? 'unknown';
  } catch (error) {
    // A failed watch ends the wait, not the request.
    log.warn('wait_broken', { runId, error });
    return 'unknown';
  }
}
