/**
 * Cancels a run: one pure decision, one append. A run that nobody drives ends in that commit; one that is driven is
 * asked to, and its drive ends it as soon as it sees the request.
 */
import type { EventDraft, RunEvent, StopKind } from '../core/run/events.ts';
import { isOver, type RunState } from '../core/run/state.ts';
import { assertTransition, type RunStatus } from '../core/run/status.ts';
import { runCancelled } from '../engine/drive/drafts.ts';
import type { JournalDeps } from '../journal/run-journal.ts';
import type { Log } from '../ports/log.ts';
import { appendFromOutside } from './outside-append.ts';
import { optional } from './start/optional.ts';

export interface CancelDeps extends JournalDeps {
  readonly log: Log;
}

export interface CancelRequest {
  readonly runId: string;
  readonly tenantId: string;
  /** Who wants it; absent for what the system decides by itself. */
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  readonly stopKind: StopKind;
}

/** Says what the first request said: a later one changes nothing, whatever its reason. */
export interface Cancellation {
  readonly runId: string;
  /** `cancelling`: a drive holds the run and has been asked to end it. */
  readonly status: 'cancelled' | 'cancelling';
  /** Epoch ms. */
  readonly requestedAt: number;
  readonly reason?: string;
}

/** @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE (completed or failed), UNAVAILABLE (send the same again) */
export async function cancelRun(deps: CancelDeps, request: CancelRequest): Promise<Cancellation> {
  const { runId, tenantId } = request;
  let from: RunStatus = 'pending';
  const { state, events } = await appendFromOutside(deps, {
    runId,
    tenantId,
    decide: (current) => {
      from = current.status;
      return cancelDrafts(current, request);
    },
  });
  logEvents(deps.log, { from, state, events });
  return cancellationOf(state);
}

/** What a request adds to the journal; nothing if it was made before. @throws CairnError RUN_TERMINAL_STATE */
export function cancelDrafts(
  state: RunState,
  request: Omit<CancelRequest, 'runId' | 'tenantId'>,
): EventDraft[] {
  if (state.status === 'cancelled') return [];
  if (isOver(state)) assertTransition(state.status, 'cancelled');
  const { stopKind, reason, actor } = request;
  const cancellation = state.cancellation ?? {
    stopKind,
    ...optional('reason', reason),
    ...optional('actor', actor),
  };
  const ended = runCancelled({ cancellation });
  const requested: EventDraft[] = state.cancellation ? [] : [{ ...ended, type: 'cancel_requested' }];
  // What a drive was asked for and did not live to do is done by whoever asks again.
  return state.lease ? requested : [...requested, ended];
}

/** @throws CairnError RUN_TERMINAL_STATE if the run ended otherwise before its drive saw the request */
function cancellationOf(state: RunState): Cancellation {
  const { id: runId, status, cancellation } = state;
  if (isOver(state) && status !== 'cancelled') assertTransition(status, 'cancelled');
  return {
    runId,
    status: status === 'cancelled' ? 'cancelled' : 'cancelling',
    requestedAt: cancellation?.requestedAt ?? state.updatedAt,
    ...optional('reason', cancellation?.reason),
  };
}

interface Change {
  readonly from: RunStatus;
  readonly state: RunState;
  readonly events: readonly RunEvent[];
}

/** The end of a run is logged by whoever ends it: here, what a drive logs for the runs that it ends. */
function logEvents(log: Log, { from, state, events }: Change): void {
  const { id: runId, tenantId, type, status, durationMs } = state;
  for (const { type: what, initiator } of events) {
    if (what === 'cancel_requested') log.info('run_cancel_requested', { runId, tenantId, initiator });
    if (what !== 'run_cancelled') continue;
    log.info('run_transition', { runId, from, to: status, initiator });
    log.info('run_completed', { runId, tenantId, type, status, durationMs });
  }
}
