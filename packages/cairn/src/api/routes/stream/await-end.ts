/** `GET /v1/runs/{id}?wait=…`: returns the run once it has ended, or its current state after the wait. A waiting request counts as a stream. */
import { isRunId } from '../../../core/encoding/ids.ts';
import { isOver } from '../../../core/run/state.ts';
import { runNotFound } from '../../../operations/append-to-run.ts';
import { type AwaitEndResult, awaitEnd } from '../../../operations/await-end.ts';
import type { LoadedRun } from '../../../ports/run-store.ts';
import { waitOf } from '../../query.ts';
import type { Asked } from '../../route.ts';
import { ownRun } from '../own-run.ts';

type AskedRun = Asked<'GET /v1/runs/{id}'>;

/**
 * The watch also finds out whether the run exists, so it is not read first.
 *
 * @throws CairnError INVALID_INPUT, RUN_NOT_FOUND; RATE_LIMITED or UNAVAILABLE without a place
 */
export async function ownRunAfterWait(asked: AskedRun): Promise<LoadedRun> {
  const forMs = waitOf(asked.query);
  if (forMs === 0 || asked.request.method === 'HEAD' || !isRunId(asked.params.id)) return ownRun(asked);
  const { leave, refusal } = placeOf(asked);
  if (!leave) {
    const run = await ownRun(asked);
    if (isOver(run.state)) return run;
    throw refusal;
  }
  const result = await resultOf(asked, forMs).finally(leave);
  if (result === 'none') throw runNotFound();
  return result === 'unknown' ? ownRun(asked) : result;
}

/** A run that has ended is answered without a place too. */
function placeOf({ instance, caller }: AskedRun): { leave?: () => void; refusal?: unknown } {
  try {
    return { leave: instance.places.take(caller.tenantId) };
  } catch (refusal) {
    return { refusal };
  }
}

async function resultOf({ deps, caller, params }: AskedRun, forMs: number): Promise<AwaitEndResult> {
  const { start, watch, shutdown } = deps;
  const awaited = { runId: params.id, tenantId: caller.tenantId, forMs, signal: shutdown };
  try {
    return await awaitEnd({ watch, clock: start.clock }, awaited);
  } catch (error) {
    // A watch that failed ends the wait, not the request.
    start.log.warn('wait_broken', { runId: params.id, error });
    return 'unknown';
  }
}
