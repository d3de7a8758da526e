/** `GET /v1/runs/{id}?wait=…`: the run once it has ended, or as it is when the time is over. Takes a place of a stream while it waits. */
import { isOver } from '../../../core/run/state.ts';
import { awaitEnd } from '../../../operations/await-end.ts';
import type { LoadedRun } from '../../../ports/run-store.ts';
import { waitOf } from '../../query.ts';
import type { Asked } from '../../route.ts';
import { ownRun } from '../own-run.ts';

/** @throws CairnError INVALID_INPUT, RUN_NOT_FOUND; RATE_LIMITED or UNAVAILABLE without a place */
export async function ownRunAfterWait(asked: Asked<'GET', '/v1/runs/{id}'>): Promise<LoadedRun> {
  const { deps, instance, caller, params, query, request } = asked;
  const forMs = waitOf(query);
  const run = await ownRun(asked);
  if (forMs === 0 || isOver(run.state) || request.method === 'HEAD') return run;
  const leave = instance.places.take(caller.tenantId);
  const { clock, log } = deps.start;
  try {
    await awaitEnd({ watch: deps.watch, clock }, { runId: params.id, forMs, signal: deps.shutdown });
  } catch (error) {
    // A watch that failed ends the wait, not the request.
    log.warn('wait_broken', { runId: params.id, error });
  } finally {
    leave();
  }
  return ownRun(asked);
}
