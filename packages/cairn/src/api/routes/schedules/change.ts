/** Making a schedule, changing it, pausing it, letting it go on, deleting it. Each takes an operator. */
import { z } from 'zod';
import type { Json } from '../../../core/encoding/json.ts';
import { CATCH_UPS } from '../../../core/schedule/schedule.ts';
import * as operations from '../../../operations/schedules/alter-schedule.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { scheduleDetails } from '../../views/schedule.ts';
import { assertOwn, type ScheduleAddress, scheduleDeps } from './access.ts';

const MAX_NAME_CHARS = 100;
const MAX_REASON_CHARS = 500;

const Name = z.string().min(1).max(MAX_NAME_CHARS);
/** Whatever the body, which is JSON, holds. */
const Input = z.unknown().transform((value) => value as Json);

export const NewBody = z.strictObject({
  type: z.string(),
  cron: z.string(),
  timezone: z.string().default('Etc/UTC'),
  input: Input.optional(),
  catchUp: z.enum(CATCH_UPS).default('latest'),
  name: Name.optional(),
});

export const PatchBody = z.strictObject({
  cron: z.string().optional(),
  timezone: z.string().optional(),
  input: Input.optional(),
  catchUp: z.enum(CATCH_UPS).optional(),
  name: Name.nullable().optional(),
});

export const PauseBody = z.strictObject({ reason: z.string().min(1).max(MAX_REASON_CHARS).optional() });
export const ResumeBody = z.strictObject({});
export const DeleteBody = z.strictObject({});

type Made = Readonly<Record<string, Json>>;

/** `POST /v1/schedules`. */
export async function postSchedule(deps: ApiDeps, caller: Caller, request: Request): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, NewBody);
  const { input = {}, ...rest } = mutation.body;
  const spec = { ...rest, input };
  operations.assertSchedulable(scheduleDeps(deps), spec);
  const making = { ...mutation, locationOf: ({ id }: Made) => `/v1/schedules/${id}` };
  return answerOnce(deps, caller, making, async (requestId) => {
    const { tenantId } = caller;
    const schedule = await operations.makeSchedule(scheduleDeps(deps), {
      ...spec,
      tenantId,
      actor: principalOf(caller),
      requestId,
    });
    return { status: 201, body: scheduleDetails(schedule, schedule.createdAt) };
  });
}

/** `PATCH /v1/schedules/{id}`: members that are left out stay. */
export async function patchSchedule(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, PatchBody);
  const ref = await refOf(deps, caller, at, mutation.key);
  return answerOnce(deps, caller, mutation, async () => {
    const schedule = await operations.patchSchedule(scheduleDeps(deps), ref, mutation.body);
    return { status: 200, body: scheduleDetails(schedule, deps.start.clock.now()) };
  });
}

/** `POST /v1/schedules/{id}/pause`. */
export async function pauseSchedule(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, PauseBody);
  const ref = await refOf(deps, caller, at, mutation.key);
  return answerOnce(deps, caller, mutation, async () => {
    const { reason } = mutation.body;
    const request = { ...ref, actor: principalOf(caller), reason };
    const schedule = await operations.pauseSchedule(scheduleDeps(deps), request);
    return { status: 200, body: scheduleDetails(schedule, deps.start.clock.now()) };
  });
}

/** `POST /v1/schedules/{id}/resume`. */
export async function resumeSchedule(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, ResumeBody);
  const ref = await refOf(deps, caller, at, mutation.key);
  return answerOnce(deps, caller, mutation, async () => {
    const schedule = await operations.resumeSchedule(scheduleDeps(deps), ref);
    return { status: 200, body: scheduleDetails(schedule, deps.start.clock.now()) };
  });
}

/** `DELETE /v1/schedules/{id}`: its runs stay. */
export async function deleteSchedule(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, DeleteBody);
  const ref = await refOf(deps, caller, at, mutation.key);
  return answerOnce(deps, caller, mutation, async () => {
    await operations.deleteSchedule(scheduleDeps(deps), ref);
    return { status: 200, body: { id: ref.id, deleted: true } };
  });
}

async function refOf(deps: ApiDeps, caller: Caller, { id }: ScheduleAddress, key: string | undefined) {
  await assertOwn(deps, caller, { id, key });
  return { id, tenantId: caller.tenantId };
}
