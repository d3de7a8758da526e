/**
 * Cancels a run: one pure decision, one append. A run without a worker and without compensations ends in that commit. For any other
 * run the commit is a request, which a dispatch carries out: the current worker notices it at its next append or check for foreign
 * events. `engine/drive/session.ts` stops the running steps.
 */
import { leftUndone } from '../core/decisions/compensation.ts';
import type { DeployedPlan } from '../core/decisions/deployed-plan.ts';
import { endingDecision } from '../core/decisions/ending.ts';
import { endingFactsOf } from '../core/decisions/ending-facts.ts';
import type { EventDraft, StopKind } from '../core/run/events.ts';
import { isOver, type RunState } from '../core/run/state.ts';
import { assertTransition } from '../core/run/status.ts';
import { deployedFor, learnUndoable, workflowOf } from '../engine/definition-of-run.ts';
import type { RunDeps } from '../engine/deps.ts';
import { driveAfter } from '../engine/drive-after.ts';
import { runCancelled } from '../engine/recording/terminal.ts';
import { resumptionDrafts } from '../engine/waits/end-of-wait.ts';
import type { Appended } from '../journal/run-journal.ts';
import { type Log, ofRun } from '../ports/log.ts';
import { appendToRun, type RunOfTenant } from './append-to-run.ts';

export interface CancelRequest extends RunOfTenant {
  /** Requester; absent for decisions of the system. */
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  readonly stopKind: StopKind;
  /** Skips the compensations; the last event of the run names them. */
  readonly withoutUndo?: boolean | undefined;
}

/** The cancellation as first requested: later requests do not change its reason. */
export interface Cancellation {
  readonly runId: string;
  /** `cancelling`: a dispatch will run the compensations and end the run. While its plan is not deployed, the run stays blocked. */
  readonly status: 'cancelled' | 'cancelling';
  /** Epoch ms. */
  readonly requestedAt: number;
  readonly reason?: string | undefined;
}

/** @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE (completed or failed), UNAVAILABLE (send the same again) */
export async function cancelRun(deps: RunDeps, request: CancelRequest): Promise<Cancellation> {
  const { runId, tenantId } = request;
  const { registry } = deps;
  let unlearned: RunState | undefined;
  const append = (isLearned: boolean) =>
    appendToRun(deps, {
      runId,
      tenantId,
      decide(current) {
        const isKnown = isLearned || isOver(current) || workflowOf(registry, current) !== undefined;
        unlearned = isKnown ? undefined : current;
        return isKnown ? cancelDrafts(current, request, deployedFor(registry, current)) : [];
      },
    });
  let appended = await append(false);
  // For a version that is not deployed, only its stored plan shows whether there are compensations.
  if (unlearned) {
    await learnUndoable(deps, unlearned);
    appended = await append(true);
  }
  logCancelRequests(deps.log, appended);
  await driveAfter(deps, appended);
  return cancellationOf(appended.state);
}

const UNDONE_FIRST = 'completed steps are undone first';

/** Events of a request; none if the same was requested before. @throws CairnError RUN_TERMINAL_STATE */
export function cancelDrafts(
  state: RunState,
  request: Omit<CancelRequest, 'runId' | 'tenantId'>,
  deployed: DeployedPlan,
): EventDraft[] {
  if (state.status === 'cancelled') return [];
  if (isOver(state)) assertTransition(state.status, 'cancelled');
  const { stopKind, reason, actor } = request;
  const cancellation = state.cancellation ?? { stopKind, reason, actor };
  const ended = runCancelled(state, cancellation, leftUndone(state, deployed.isCompensable));
  const withoutUndo = request.withoutUndo && { withoutUndo: true as const };
  const isNews = !state.cancellation || (withoutUndo && !state.cancellation.withoutUndo);
  const requested: EventDraft[] = isNews
    ? [
        {
          type: 'cancel_requested',
          initiator: ended.initiator,
          actor,
          data: { stopKind: cancellation.stopKind, reason: cancellation.reason, ...withoutUndo },
        },
      ]
    : [];
  const cancelRequest = { requestedAt: state.updatedAt, ...cancellation, ...withoutUndo };
  const ending = endingDecision(endingFactsOf({ ...state, cancellation: cancelRequest }, deployed));
  const resumed = (why: string) => [...requested, ...resumptionDrafts(state, `cancelled: ${why}`, ended)];
  switch (ending.kind) {
    case 'undo_first':
      // Compensations need a dispatch, which then ends the run.
      return resumed(UNDONE_FIRST);
    case 'cancelled':
      // Also ends a run whose worker died before it carried out an earlier request.
      return [...requested, ended];
    case 'continue':
      // The next dispatch blocks the run, which then waits until its compensations are deployed.
      if (ending.because === 'without_plan' && state.parked === undefined) return resumed(UNDONE_FIRST);
      // The next dispatch cancels the children that the run must wait for, and ends the run after them.
      if (ending.because === 'children_open' && !state.cancellation)
        return resumed('its children are to end first');
      return requested;
    default:
      return requested;
  }
}

/** @throws CairnError RUN_TERMINAL_STATE if the run ended otherwise before its dispatch saw the request */
function cancellationOf(state: RunState): Cancellation {
  const { id: runId, status, cancellation } = state;
  if (isOver(state) && status !== 'cancelled') assertTransition(status, 'cancelled');
  return {
    runId,
    status: status === 'cancelled' ? 'cancelled' : 'cancelling',
    requestedAt: cancellation?.requestedAt ?? state.updatedAt,
    reason: cancellation?.reason,
  };
}

/** Logs a cancellation request: the end itself is logged with its commit (`journal/measure.ts`). */
export function logCancelRequests(log: Log, { state, events }: Pick<Appended, 'state' | 'events'>): void {
  for (const { type, initiator } of events)
    if (type === 'cancel_requested') log.info('run_cancel_requested', { ...ofRun(state), initiator });
}
