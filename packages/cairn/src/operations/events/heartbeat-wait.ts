/**
 * Heartbeat for the wait of a step: the sender of the event is still working, so the wait does not fail yet. A heartbeat
 * writes nothing if the recorded time suffices.
 */
import { CairnError } from '../../core/errors.ts';
import type { EventDraft } from '../../core/run/events.ts';
import { dueAfterBeat, type WaitWithHeartbeat } from '../../core/run/heartbeat.ts';
import type { RunState } from '../../core/run/state.ts';
import { type DriveAfterDeps, driveAfter } from '../../engine/drive-after.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import { appendToRun, type RunOfTenant } from '../append-to-run.ts';
import { openEventWait } from './fail-wait.ts';

interface HeartbeatRequest extends RunOfTenant {
  readonly stepId: string;
  readonly actor: string;
}

interface HeartbeatResult {
  readonly runId: string;
  readonly stepId: string;
  /** Time at which the wait fails unless the event or another heartbeat arrives. Epoch ms. */
  readonly dueAt: number;
  /** False if the recorded time suffices and nothing was written. */
  readonly recorded: boolean;
}

/**
 * @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION (the step waits for no event, or its wait has no
 *   heartbeat), UNAVAILABLE (send the same again)
 */
export async function heartbeatWait(
  deps: JournalDeps & DriveAfterDeps,
  { runId, tenantId, stepId, actor }: HeartbeatRequest,
): Promise<HeartbeatResult> {
  const appended = await appendToRun(deps, {
    runId,
    tenantId,
    decide: (state, now) => heartbeatDrafts(waitWithHeartbeat(state, stepId), { now, actor }),
  });
  const recorded = appended.events.length > 0;
  if (recorded) await driveAfter(deps, appended);
  const { dueAt } = waitWithHeartbeat(appended.state, stepId);
  return { runId, stepId, dueAt, recorded };
}

function heartbeatDrafts(
  wait: WaitWithHeartbeat,
  { now, actor }: { readonly now: number; readonly actor: string },
): EventDraft[] {
  const dueAt = dueAfterBeat(wait, now);
  if (dueAt === undefined) return [];
  return [{ type: 'wait_heartbeat', initiator: 'user', actor, data: { waitId: wait.id, dueAt } }];
}

/** @throws CairnError RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION */
function waitWithHeartbeat(state: RunState, stepId: string): WaitWithHeartbeat {
  const wait = openEventWait(state, stepId);
  const { heartbeat, dueAt } = wait;
  if (heartbeat && dueAt !== undefined) return { ...wait, heartbeat, dueAt };
  throw new CairnError('RUN_INVALID_TRANSITION', `step '${stepId}' waits without a heartbeat`, {
    stepId,
    help: "Give the step the option heartbeat: { within: '5m' }. It applies to waits opened after the deployment.",
  });
}
