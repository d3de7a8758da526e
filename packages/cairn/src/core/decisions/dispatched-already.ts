/**
 * Decides whether a suspect that got a request already has its dispatch, because each further dispatch would need its own
 * process.
 */
import type { EventType, RunEvent } from '../run/events.ts';
import { type RunState, runsAlone } from '../run/state.ts';
import type { RunStatus } from '../run/status.ts';

/** Statuses of a run whose dispatch was requested when it became ready. An interrupted run must be recovered first. */
const READY: ReadonlySet<RunStatus> = new Set<RunStatus>(['pending', 'running', 'replaying']);

/** Events that make a run ready, or give it work before its requested dispatch is due. */
const MOVES: ReadonlySet<EventType> = new Set<EventType>([
  'run_resumed',
  'continue_requested',
  'cancel_requested',
]);

/**
 * True if the run was ready before the request. The requested dispatch publishes the events of the request too, and if it was lost,
 * the scan finds the run.
 *
 * @param events that the request appended; none if it repeats another
 */
export function isDispatchedAlready(
  state: Pick<RunState, 'status' | 'suspect'>,
  events: readonly Pick<RunEvent, 'type'>[],
): boolean {
  return runsAlone(state) && READY.has(state.status) && !events.some(({ type }) => MOVES.has(type));
}
