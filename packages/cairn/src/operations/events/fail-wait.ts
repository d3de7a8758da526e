/**
 * Fails the wait of a step for an event: the sender knows that the event will not arrive, so the run need not wait for
 * the timeout. One pure decision, one append.
 */
import { CairnError } from '../../core/errors.ts';
import type { EventDraft, EventWait, RecordedError } from '../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../core/run/records.ts';
import { hasReceived, type RunState, stepKey } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { planMissing, workflowOf } from '../../engine/definition-of-run.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import type { OfferDeps } from '../../engine/mailbox/offer.ts';
import { refusalDrafts, resumptionDrafts } from '../../engine/waits/end-of-wait.ts';
import { appendToRun, type RunOfTenant } from '../append-to-run.ts';
import { assertNotEnding } from './checked-event.ts';

interface FailWaitRequest extends RunOfTenant {
  readonly stepId: string;
  readonly reason: string;
  /** The same for every attempt of one request. */
  readonly requestId: string;
  readonly actor: string;
}

export interface WaitFailed {
  readonly runId: string;
  readonly stepId: string;
}

/**
 * @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION (the step waits for no event),
 *   PLAN_VERSION_UNAVAILABLE, PLAN_CHANGED, UNAVAILABLE (send the same again)
 */
export async function failWait(deps: OfferDeps, request: FailWaitRequest): Promise<WaitFailed> {
  const { runId, tenantId, stepId } = request;
  const appended = await appendToRun(deps, {
    runId,
    tenantId,
    decide: (state, now) => failDrafts(deps.registry, state, { ...request, now }),
  });
  await driveAfter(deps, appended);
  if (appended.events.length > 0) deps.log.info('wait_failed', { runId, tenantId, stepId });
  return { runId, stepId };
}

function failDrafts(
  registry: WorkflowRegistry,
  state: RunState,
  { stepId, reason, requestId, actor, now }: FailWaitRequest & { readonly now: number },
): readonly EventDraft[] {
  if (hasReceived(state, requestId)) return [];
  const wait = openEventWait(state, stepId);
  const step = workflowOf(registry, state)?.steps.get(wait.execution.stepId);
  if (!step) throw planMissing(registry, state, wait.execution.stepId);
  const answer = { initiator: 'user' as const, actor, signalId: requestId };
  const message = cut(`${actor} reported that the event will not arrive: ${reason}`, TRACE_CHARS);
  const error: RecordedError = { code: 'EVENT_FAILED', message, stepId, retryable: false };
  return [
    ...refusalDrafts({ step, wait, now }, answer, error),
    ...resumptionDrafts(state, `step ${stepId} was failed by request`, answer),
  ];
}

/** @throws CairnError RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION */
export function openEventWait(state: RunState, stepId: string): EventWait {
  assertNotEnding(state, 'has no open waits');
  const wait = state.waits.find(({ execution }) => stepKey(execution) === stepId);
  if (wait?.kind === 'event') return wait;
  throw new CairnError('RUN_INVALID_TRANSITION', `step '${stepId}' is not waiting for an event`, {
    stepId,
    help: 'Read the run: `waits` lists its open waits. A wait that was answered, failed or timed out is closed.',
  });
}
