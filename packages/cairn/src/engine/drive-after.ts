/**
 * Dispatch after an external append, if the run can continue, has completion duties, or has events to publish. A lost dispatch
 * is harmless, because `wakeAt` is set and the scan finds the run. The append is durable before, so the caller's result does
 * not depend on the dispatch.
 */
import { isDispatchedAlready } from '../core/decisions/dispatched-already.ts';
import { hasCompletionDuties, isOver, type RunState, runsAlone } from '../core/run/state.ts';
import type { RunStatus } from '../core/run/status.ts';
import type { Appended } from '../journal/run-journal.ts';
import type { EventBus } from '../ports/runs/event-bus.ts';
import type { DriveTask } from '../ports/task-queue.ts';
import { type EnqueueDeps, enqueueSoon, type Pools, poolAndTenant } from './enqueue-soon.ts';

export interface DriveAfterDeps extends EnqueueDeps, Pools {
  /** Receives the events that dispatches publish; absent: they are not published. */
  readonly bus?: EventBus | undefined;
}

/** Statuses in which a run without a worker can be dispatched. */
const MOVING: ReadonlySet<RunStatus> = new Set<RunStatus>(['running', 'replaying', 'interrupted']);

/**
 * Call after the append is acknowledged, also if it added nothing, because the first caller may have died before this call. For
 * a suspect that is left to the scan.
 */
export async function driveAfter(
  deps: DriveAfterDeps,
  { state, events }: Appended,
  more: Pick<DriveTask, 'skipsBackoff'> = {},
): Promise<void> {
  const isUnpublished = deps.bus !== undefined && events.length > 0 && state.lease === undefined;
  const isWanted = wantsDrive(state, events.length > 0);
  if (!isUnpublished && !isWanted) return;
  const skipsBackoff = more.skipsBackoff ?? (isAnsweredEarly({ state, events }) || undefined);
  if (isWanted && !skipsBackoff && isDispatchedAlready(state, events)) return;
  await enqueueSoon(deps, {
    runId: state.id,
    reason: 'continue',
    ...poolAndTenant(deps, state),
    alone: isWanted && runsAlone(state),
    skipsBackoff,
  });
}

/** True if an answer to one wait lets the run continue before the next attempt to announce another wait is due. */
function isAnsweredEarly({ state, events }: Pick<Appended, 'state' | 'events'>): boolean {
  return state.dueAt !== undefined && events.some(({ type }) => type === 'wait_resolved');
}

/** A worker that holds the run notices the append itself; a waiting run is not dispatched without need. */
function wantsDrive(state: RunState, appended: boolean): boolean {
  if (isOver(state)) return appended && hasCompletionDuties(state);
  return state.lease === undefined && MOVING.has(state.status);
}
