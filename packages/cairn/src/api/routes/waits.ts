/**
 * `POST /v1/runs/{id}/waits/{stepId}/fail`: the event that a step waits for will not come. `…/heartbeat`: its sender is still
 * at work on it.
 */
import { failWait } from '../../operations/events/fail-wait.ts';
import { heartbeatWait } from '../../operations/events/heartbeat-wait.ts';
import type { Carried, ChangeHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { assertOwnRun, runOf } from './own-run.ts';

export const fail: ChangeHandler<'POST /v1/runs/{id}/waits/{stepId}/fail'> = {
  before: assertOwnRun,
  async work(call, requestId) {
    const { start, registry } = call.deps;
    const { stepId } = call.params;
    const failed = await failWait(
      { ...start, registry },
      { ...call.body, ...runOf(call), stepId, requestId: `f.${requestId}` },
    );
    return { status: 200, body: { ...failed } };
  },
};

/** Idempotency keys are ignored: a repeated heartbeat has the same effect, and a record would cost more than the heartbeat. */
export const heartbeat: Carried<'POST /v1/runs/{id}/waits/{stepId}/heartbeat'> = {
  async answer(call) {
    const { stepId } = call.params;
    const beaten = await heartbeatWait(call.deps.start, { ...runOf(call), stepId });
    return { ...beaten, dueAt: iso(beaten.dueAt) };
  },
};
