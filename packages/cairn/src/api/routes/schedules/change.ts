/** Create, change, pause, resume and delete schedules. Each requires an operator. */
import * as operations from '../../../operations/schedules/alter-schedule.ts';
import type { ChangeHandler } from '../../route.ts';
import { scheduleDetails } from '../../views/schedule.ts';
import { assertOwnSchedule, scheduleOf } from './access.ts';

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
  async work(call) {
    const { deps, body } = call;
    const schedule = await operations.patchSchedule(deps, scheduleOf(call), body);
    return { status: 200, body: scheduleDetails(schedule, deps.clock.now()) };
  },
};

export const pause: ChangeHandler<'POST /v1/schedules/{id}/pause'> = {
  before: assertOwnSchedule,
  async work(call) {
    const { deps, caller, body } = call;
    const request = { ...scheduleOf(call), actor: caller.principal, reason: body.reason };
    const schedule = await operations.pauseSchedule(deps, request);
    return { status: 200, body: scheduleDetails(schedule, deps.clock.now()) };
  },
};

export const resume: ChangeHandler<'POST /v1/schedules/{id}/resume'> = {
  before: assertOwnSchedule,
  async work(call) {
    const { deps } = call;
    const schedule = await operations.resumeSchedule(deps, scheduleOf(call));
    return { status: 200, body: scheduleDetails(schedule, deps.clock.now()) };
  },
};

/** Keeps the runs of the schedule. */
export const remove: ChangeHandler<'DELETE /v1/schedules/{id}'> = {
  before: assertOwnSchedule,
  async work(call) {
    const schedule = scheduleOf(call);
    await operations.deleteSchedule(call.deps, schedule);
    return { status: 200, body: { id: schedule.id, deleted: true } };
  },
};
