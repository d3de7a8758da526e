/** `GET /v1/schedules` and `GET /v1/schedules/{id}`: of the caller's tenant, those that workflows declare among them. */
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { pageRequest, readQuery } from '../../query.ts';
import { scheduleDetails, scheduleView } from '../../views/schedule.ts';
import { type ScheduleAddress, scheduleDeps } from './access.ts';

/** Newest first. */
export async function listSchedules({ schedules }: ApiDeps, caller: Caller, url: string): Promise<Response> {
  const page = pageRequest(readQuery(url, ['limit', 'cursor']));
  const { items, next } = await schedules.list(caller.tenantId, page);
  return Response.json({ items: items.map(scheduleView), ...(next === undefined ? {} : { next }) });
}

export async function readSchedule(
  deps: ApiDeps,
  { tenantId }: Caller,
  { id, request }: ScheduleAddress,
): Promise<Response> {
  readQuery(request.url, []);
  const { schedule } = await ownSchedule(scheduleDeps(deps), { id, tenantId });
  return Response.json(scheduleDetails(schedule, deps.start.clock.now()));
}
