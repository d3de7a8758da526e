/** `POST /v1/runs/{id}/…`: what people and other programs do to a run that has not ended. */
import { iso } from '../../core/run/readable.ts';
import { decideApproval } from '../../operations/approvals/decide-approval.ts';
import { assertDecisionContent } from '../../operations/approvals/request.ts';
import { cancelRun } from '../../operations/cancel-run.ts';
import { failWait } from '../../operations/events/fail-wait.ts';
import { heartbeatWait } from '../../operations/events/heartbeat-wait.ts';
import { signalDataText, signalRun } from '../../operations/events/signal-run.ts';
import { continueRun, suspendRun } from '../../operations/suspend-run.ts';
import { mayActAs } from '../auth.ts';
import type { ChangeHandler, DirectChangeHandler } from '../route.ts';
import { MAX_EVENT_BODY_BYTES } from './deliver-event.ts';
import { assertOwnRun, runOf } from './own-run.ts';

/** Ends a run, or asks its worker to end it. */
export const cancel: ChangeHandler<'POST /v1/runs/{id}/cancel'> = {
  before: assertOwnRun,
  async work(call) {
    const { reason, withoutUndo } = call.body;
    const request = { ...runOf(call), reason, stopKind: 'user', withoutUndo } as const;
    const cancellation = await cancelRun(call.deps, request);
    return { status: 200, body: { ...cancellation, requestedAt: iso(cancellation.requestedAt) } };
  },
};

export const suspend: ChangeHandler<'POST /v1/runs/{id}/suspend'> = {
  before: assertOwnRun,
  async work(call) {
    const suspension = await suspendRun(call.deps, { ...runOf(call), ...call.body });
    return { status: 200, body: { ...suspension, requestedAt: iso(suspension.requestedAt) } };
  },
};

export const continueSuspended: ChangeHandler<'POST /v1/runs/{id}/continue'> = {
  before: assertOwnRun,
  async work(call) {
    const continued = await continueRun(call.deps, { ...runOf(call), reason: call.body.reason });
    return { status: 200, body: { ...continued } };
  },
};

/** An approval, or a step in doubt. `stepId` is the key of the step: `id`, or `id[itemKey]`. */
export const decide: ChangeHandler<'POST /v1/runs/{id}/approvals/{stepId}'> = {
  async before(call) {
    assertDecisionContent(call.body);
    await assertOwnRun(call);
  },
  async work(call) {
    const { stepId } = call.params;
    const mayRaiseDay = mayActAs(call.caller.role, 'installation');
    const request = { ...call.body, ...runOf(call), stepId, mayRaiseDay };
    const decided = await decideApproval(call.deps, request);
    return { status: 200, body: { ...decided, decidedAt: iso(decided.decidedAt) } };
  },
};

/** Sends a signal to one run, which waits for it now or later. */
export const signal: ChangeHandler<'POST /v1/runs/{id}/signals'> = {
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  async before(call) {
    signalDataText(call.body);
    await assertOwnRun(call);
  },
  async work(call, requestId) {
    const signalId = `s.${requestId}`;
    const signalled = await signalRun(call.deps, { ...call.body, ...runOf(call), signalId });
    return { status: 200, body: { ...signalled } };
  },
};

/** Reports that the event a step waits for will not arrive. */
export const fail: ChangeHandler<'POST /v1/runs/{id}/waits/{stepId}/fail'> = {
  before: assertOwnRun,
  async work(call, requestId) {
    const { stepId } = call.params;
    const request = { ...call.body, ...runOf(call), stepId, requestId: `f.${requestId}` };
    const failed = await failWait(call.deps, request);
    return { status: 200, body: { ...failed } };
  },
};

/** Reports that the sender of the event is still working. Idempotency keys are ignored: a repeated heartbeat has the same effect, and a record would cost more than the heartbeat. */
export const heartbeat: DirectChangeHandler<'POST /v1/runs/{id}/waits/{stepId}/heartbeat'> = {
  async answer(call) {
    const { stepId } = call.params;
    const beaten = await heartbeatWait(call.deps, { ...runOf(call), stepId });
    return { ...beaten, dueAt: iso(beaten.dueAt) };
  },
};
