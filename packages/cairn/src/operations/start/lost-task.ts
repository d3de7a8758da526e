/**
 * Enqueues a run whose start is repeated, if no dispatch has claimed it yet: the process of the first request may have died between its
 * commit and the queue. The scan would find the run too, but one to two minutes after its start.
 */
import { READY_GRACE_MS, readySince } from '../../core/run/wake.ts';
import { enqueueSoon, poolAndTenant, QUEUE_WAIT_MS } from '../../engine/enqueue-soon.ts';
import type { StartDeps, StartResponse } from './request.ts';

/** Until then the first request may still be enqueuing the run. */
const TASK_EXPECTED_MS = QUEUE_WAIT_MS;
/** From then on the scan has found it. */
const SCANNED_MS = 2 * READY_GRACE_MS;

/** Never rejects: the run is durable, and the scan is there. Costs one read. */
export async function enqueueIfLost(
  deps: StartDeps,
  { runId, createdAt }: Pick<StartResponse, 'runId' | 'createdAt'>,
): Promise<void> {
  const { clock, store, log } = deps;
  const age = clock.now() - Date.parse(createdAt);
  if (age < TASK_EXPECTED_MS || age >= SCANNED_MS) return;
  try {
    const state = (await store.load(runId))?.state;
    if (!state || state.epoch > 0 || readySince(state) === undefined) return;
    log.warn('start_task_missing', { runId, tenantId: state.tenantId, afterMs: age });
    await enqueueSoon(deps, { runId, reason: 'start', ...poolAndTenant(deps, state) });
  } catch (error) {
    log.warn('start_task_not_checked', { runId, error });
  }
}
