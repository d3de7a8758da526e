/**
 * Enqueues a dispatch for a caller that waits for a response. The work is durable and due: if the queue is down or
 * slow, the scan finds the run, so the caller does not wait for it.
 */
import { declaredType } from '../core/flow/parts.ts';
import { type RunState, runsAlone } from '../core/run/state.ts';
import { messageOf } from '../core/thrown.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { DriveTask, TaskQueue } from '../ports/task-queue.ts';

/** Workflows with functions and queues of their own: `DriveTask.pool`. */
export interface Pools {
  /** The pool of a workflow, by its type; undefined: the shared pool. Absent: there is only the shared pool. */
  readonly poolOf?: ((type: string) => string | undefined) | undefined;
}

/**
 * Placement of a task. A caller that does not know the workflow omits it, and the dispatch that gets the task forwards it.
 */
export function poolAndTenant(
  { poolOf }: Pools,
  { type, tenantId }: { readonly type: string; readonly tenantId: string },
): Pick<DriveTask, 'pool' | 'tenantId'> {
  return { tenantId, pool: poolOf?.(declaredType(type)) };
}

/** Placement of a task of a run that the caller has read. */
export function placementOf(
  pools: Pools,
  state: Pick<RunState, 'type' | 'tenantId' | 'status' | 'suspect'>,
): Pick<DriveTask, 'pool' | 'tenantId' | 'alone'> {
  return { ...poolAndTenant(pools, state), alone: runsAlone(state) };
}

export interface EnqueueDeps {
  readonly queue: TaskQueue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Time in ms that a caller waits for the queue, which normally answers in tens of ms. */
export const QUEUE_WAIT_MS = 2_000;

/** Never rejects. Sending continues after the wait, up to the queue's own deadline. */
export async function enqueueSoon({ queue, clock, log }: EnqueueDeps, task: DriveTask): Promise<void> {
  const { runId } = task;
  // An abort signal would create an error with a stack for each start.
  await new Promise<void>((resolve) => {
    const cancel = clock.timer(QUEUE_WAIT_MS, () => {
      log.warn('enqueue_unanswered', {
        runId,
        afterMs: QUEUE_WAIT_MS,
        help: 'the scan finds the run within two minutes',
      });
      resolve();
    });
    void queue
      .enqueue(task)
      .catch((error: unknown) => log.error('enqueue_failed', { runId, error: messageOf(error) }))
      .finally(() => {
        cancel();
        resolve();
      });
  });
}
