/** Starts runs of a schedule by request: one now (trigger), or those of past slots (backfill). Both require an operator. */
import { assertPast, backfillSchedule } from '../../../operations/schedules/backfill-schedule.ts';
import { triggerSchedule } from '../../../operations/schedules/trigger-schedule.ts';
import type { ChangeHandler, MutationCall } from '../../route.ts';
import { assertOwnSchedule, scheduleOf } from './access.ts';

export const trigger: ChangeHandler<'POST /v1/schedules/{id}/trigger'> = {
  before: assertOwnSchedule,
  locationOf: ({ runId }) => `/v1/runs/${runId}`,
  async work(call, requestId) {
    const { trace, a2aCorrelationId } = call;
    const context = { trace, a2aCorrelationId };
    const request = { ...scheduleOf(call), actor: call.caller.principal, requestId, context };
    const runId = await triggerSchedule(call.deps, request);
    return { status: 201, body: { scheduleId: request.id, runId } };
  },
};

/** Slots from `from` to `to`, both included. */
export const backfill: ChangeHandler<'POST /v1/schedules/{id}/backfill'> = {
  async before(call) {
    assertPast(call.deps, rangeOf(call));
    await assertOwnSchedule(call);
  },
  async work(call) {
    const { dryRun } = call.body;
    const schedule = scheduleOf(call);
    const backfill = { ...schedule, ...rangeOf(call), isDryRun: dryRun };
    const filled = await backfillSchedule(call.deps, backfill);
    return { status: 200, body: { scheduleId: schedule.id, dryRun, ...filled } };
  },
};

function rangeOf({ body }: MutationCall<'POST /v1/schedules/{id}/backfill'>) {
  return { from: Date.parse(body.from), until: Date.parse(body.to) };
}
