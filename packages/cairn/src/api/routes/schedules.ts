/** `/v1/schedules`: schedules of the caller's tenant, including those that workflows declare. Changes and starts require an operator. */
import type { Schedule } from '../../core/schedule/schedule.ts';
import * as operations from '../../operations/schedules/alter-schedule.ts';
import { assertPast, backfillSchedule } from '../../operations/schedules/backfill-schedule.ts';
import { ownSchedule } from '../../operations/schedules/change-schedule.ts';
import { triggerSchedule } from '../../operations/schedules/trigger-schedule.ts';
import type { ChangeHandler, MutationCall, ReadHandler } from '../route.ts';
import { scheduleDetails, scheduleView } from '../views/schedule.ts';

type ScheduleCall = Omit<MutationCall<'POST /v1/schedules/{id}/trigger'>, 'body'>;

/** Newest first. */
export const listAll: ReadHandler<'GET /v1/schedules'> = async ({ deps, caller, query }) => {
  const { items, ...listed } = await deps.schedules.list(caller.tenantId, query);
  return { items: items.map(scheduleView), ...listed };
};

export const readOne: ReadHandler<'GET /v1/schedules/{id}'> = async (call) => {
  const { schedule } = await ownSchedule(call.deps, scheduleOf(call));
  return scheduleDetails(schedule, call.deps.clock.now());
};

export const create: ChangeHandler<'POST /v1/schedules'> = {
  before: ({ deps, body: { input = {}, ...rest } }) => operations.assertSchedulable(deps, { ...rest, input }),
  locationOf: ({ id }) => `/v1/schedules/${id}`,
  async work({ deps, caller, body: { input = {}, ...rest } }, requestId) {
    const { tenantId, principal: actor } = caller;
    const made = { ...rest, input, tenantId, actor, requestId };
    const schedule = await operations.makeSchedule(deps, made);
    return { status: 201, body: scheduleDetails(schedule, schedule.createdAt) };
  },
};

/** Omitted members are unchanged. */
export const patch: ChangeHandler<'PATCH /v1/schedules/{id}'> = {
  before: assertOwnSchedule,
  work: (call) => changed(call, operations.patchSchedule(call.deps, scheduleOf(call), call.body)),
};

export const pause: ChangeHandler<'POST /v1/schedules/{id}/pause'> = {
  before: assertOwnSchedule,
  work(call) {
    const request = { ...scheduleOf(call), actor: call.caller.principal, reason: call.body.reason };
    return changed(call, operations.pauseSchedule(call.deps, request));
  },
};

export const resume: ChangeHandler<'POST /v1/schedules/{id}/resume'> = {
  before: assertOwnSchedule,
  work: (call) => changed(call, operations.resumeSchedule(call.deps, scheduleOf(call))),
};

async function changed({ deps }: Pick<ScheduleCall, 'deps'>, schedule: Promise<Schedule>) {
  return { status: 200, body: scheduleDetails(await schedule, deps.clock.now()) };
}

/** Keeps the runs of the schedule. */
export const remove: ChangeHandler<'DELETE /v1/schedules/{id}'> = {
  before: assertOwnSchedule,
  async work(call, _, { before, keep }) {
    const schedule = scheduleOf(call);
    const mayBeDeleted = before !== undefined;
    if (!mayBeDeleted) await keep({ id: schedule.id });
    await operations.deleteSchedule(call.deps, schedule, { mayBeDeleted });
    return { status: 200, body: { id: schedule.id, deleted: true } };
  },
};

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

function scheduleOf({ params, caller }: Pick<ScheduleCall, 'params' | 'caller'>) {
  return { id: params.id, tenantId: caller.tenantId };
}

/** @throws CairnError NOT_FOUND */
async function assertOwnSchedule(call: ScheduleCall): Promise<void> {
  await ownSchedule(call.deps, scheduleOf(call));
}
