/** Starts runs of a schedule by request: one now (trigger), or those of past slots (backfill). Both require an operator. */
import { assertPast, backfillSchedule } from '../../../operations/schedules/backfill-schedule.ts';
import { triggerSchedule } from '../../../operations/schedules/trigger-schedule.ts';
import type { ChangeHandler, Sent } from '../../route.ts';
import { assertOwn, scheduleDeps, scheduleOf } from './access.ts';

export const trigger: ChangeHandler<'POST /v1/schedules/{id}/trigger'> = {
  before: assertOwn,
  locationOf: ({ runId }) => `/v1/runs/${runId}`,
  async work(sent, requestId) {
    const { trace, a2aCorrelationId } = sent;
    const context = { trace, a2aCorrelationId };
    const request = { ...scheduleOf(sent), actor: sent.caller.principal, requestId, context };
    const runId = await triggerSchedule(scheduleDeps(sent.deps), request);
    return { status: 201, body: { scheduleId: request.id, runId } };
  },
};

/** Slots from `from` to `to`, both included. */
export const backfill: ChangeHandler<'POST /v1/schedules/{id}/backfill'> = {
  async before(sent) {
    assertPast(sent.deps.start, rangeOf(sent));
    await assertOwn(sent);
  },
  async work(sent) {
    const { dryRun } = sent.body;
    const schedule = scheduleOf(sent);
    const asked = { ...schedule, ...rangeOf(sent), isDryRun: dryRun };
    const filled = await backfillSchedule(scheduleDeps(sent.deps), asked);
    return { status: 200, body: { scheduleId: schedule.id, dryRun, ...filled } };
  },
};

function rangeOf({ body }: Sent<'POST /v1/schedules/{id}/backfill'>) {
  return { from: Date.parse(body.from), until: Date.parse(body.to) };
}
