/**
 * Suspends and continues a run: while it is suspended, none of its steps is started. Running bodies finish, and answers,
 * events and signals are accepted. Time limits of its waits and of the run keep running; work that became due is done when it
 * continues.
 */
import { isDispatchedAlready } from '../core/decisions/dispatched-already.ts';
import { CairnError } from '../core/errors.ts';
import type { EventDraft } from '../core/run/events.ts';
import { isOver, type RunState } from '../core/run/state.ts';
import { type DriveAfterDeps, driveAfter } from '../engine/drive-after.ts';
import { enqueueSoon, placementOf } from '../engine/enqueue-soon.ts';
import type { Appended, JournalDeps } from '../journal/run-journal.ts';
import { ofRun } from '../ports/log.ts';
import { appendToRun, type RunOfTenant } from './append-to-run.ts';

type SuspendDeps = JournalDeps & DriveAfterDeps;

interface SuspendRequest extends RunOfTenant {
  readonly actor: string;
}

/** Result of the first request. A later one changes nothing. */
export interface Suspension {
  readonly runId: string;
  /** `suspending`: a worker still holds the run, starts no more steps, and lets bodies end. */
  readonly status: 'suspended' | 'suspending';
  readonly reason: string;
  readonly actor?: string | undefined;
  /** Epoch ms. */
  readonly requestedAt: number;
}

/** @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION (it is being cancelled), UNAVAILABLE (send the same again) */
export async function suspendRun(
  deps: SuspendDeps,
  { runId, tenantId, actor, reason }: SuspendRequest & { readonly reason: string },
): Promise<Suspension> {
  const decide = (state: RunState) => suspensionEvents(state, actor, reason);
  const appended = await appendToRun(deps, { runId, tenantId, decide });
  const { state, events } = appended;
  if (events.length > 0) deps.log.warn('run_suspended', { ...ofRun(state), by: actor });
  await driveAfter(deps, appended);
  const { suspension, lease } = state;
  if (!suspension) throw new Error(`run ${runId} has inconsistent suspension data`);
  return {
    runId,
    status: lease ? 'suspending' : 'suspended',
    reason: suspension.reason,
    requestedAt: suspension.requestedAt,
    actor: suspension.actor,
  };
}

/** Events that a request appends; none if the run is suspended already. @throws CairnError as {@link suspendRun} */
function suspensionEvents(state: RunState, actor: string, reason: string): EventDraft[] {
  const { id, status } = state;
  if (isOver(state))
    throw new CairnError('RUN_TERMINAL_STATE', `run ${id} has ended as ${status}`, { details: { status } });
  if (state.suspension) return [];
  if (state.cancellation)
    throw new CairnError('RUN_INVALID_TRANSITION', 'the run is being cancelled and cannot be suspended');
  return [{ type: 'suspend_requested', initiator: 'user', actor, data: { reason } }];
}

/**
 * Leaves a run that is not suspended unchanged, even an ended one, because an earlier request may have continued it.
 *
 * @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (send the same again)
 */
export async function continueRun(
  deps: SuspendDeps,
  { runId, tenantId, actor, reason }: SuspendRequest & { readonly reason?: string | undefined },
): Promise<{ readonly runId: string; readonly status: RunState['status'] }> {
  const decide = (state: RunState) => continueDrafts(state, actor, reason);
  const appended = await appendToRun(deps, { runId, tenantId, decide });
  const { state, events } = appended;
  if (events.length > 0) deps.log.info('run_continued', { ...ofRun(state), by: actor });
  await enqueueIfUnleased(deps, appended);
  return { runId, status: state.status };
}

function continueDrafts(state: RunState, actor: string, reason: string | undefined): EventDraft[] {
  if (!state.suspension) return [];
  return [{ type: 'continue_requested', initiator: 'user', actor, data: { reason } }];
}

/** Enqueues a waiting run too, because a wait may be due or not announced yet. */
async function enqueueIfUnleased(deps: SuspendDeps, { state, events }: Appended): Promise<void> {
  if (state.lease !== undefined || isOver(state) || isDispatchedAlready(state, events)) return;
  await enqueueSoon(deps, { runId: state.id, reason: 'continue', ...placementOf(deps, state) });
}
