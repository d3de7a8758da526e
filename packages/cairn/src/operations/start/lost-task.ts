/**
 * Enqueues a run whose start is repeated, if no dispatch has claimed it yet: the process of the first request may have died between the
 * commit and the queue. The scan would find the run too, but only one to two minutes after its start.
 */
import { taskName } from '../../core/encoding/task-name.ts';
import { READY_GRACE_MS, readySince } from '../../core/run/wake.ts';
import { enqueueSoon, poolAndTenant, QUEUE_WAIT_MS } from '../../engine/enqueue-soon.ts';
import type { StartDeps, StartResponse } from './request.ts';

/** Before this the first request may still enqueue the run. */
const TASK_EXPECTED_MS = QUEUE_WAIT_MS;
/** After this the scan has found the run. */
const SCANNED_MS = 2 * READY_GRACE_MS;

/** Never rejects: the run is durable, and the scan finds it later. Reads the run. */
export async function enqueueIfLost(
  deps: StartDeps,
  { runId, createdAt }: Pick<StartResponse, 'runId' | 'createdAt'>,
): Promise<void> {
  const { clock, store, log } = deps;
  const age = clock.now() - Date.parse(createdAt);
  if (age < TASK_EXPECTED_MS || age >= SCANNED_MS) return;
  try {
    const state = (await store.load(runId))?.state;
    const since = state && readySince(state);
    if (!state || state.epoch > 0 || since === undefined) return;
    log.info('start_not_claimed', { runId, tenantId: state.tenantId, afterMs: age });
    // The task may also wait in a full queue. The name prevents further repetitions from adding another.
    const name = taskName(runId, state.head, since);
    await enqueueSoon(deps, { runId, reason: 'start', name, ...poolAndTenant(deps, state) });
  } catch (error) {
    log.warn('start_not_checked', { runId, error });
  }
}
