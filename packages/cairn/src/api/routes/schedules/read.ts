/** `GET /v1/schedules` and `GET /v1/schedules/{id}`: of the caller's tenant, those that workflows declare among them. */
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { ReadHandler } from '../../route.ts';
import { scheduleDetails, scheduleView } from '../../views/schedule.ts';
import { scheduleOf } from './access.ts';

/** Newest first. */
export const listAll: ReadHandler<'GET /v1/schedules'> = async ({ deps, caller, query }) => {
  const { items, next } = await deps.schedules.list(caller.tenantId, query);
  return { items: items.map(scheduleView), next };
};

export const readOne: ReadHandler<'GET /v1/schedules/{id}'> = async (call) => {
  const { schedule } = await ownSchedule(call.deps, scheduleOf(call));
  return scheduleDetails(schedule, call.deps.clock.now());
};
