/** Having a schedule start runs out of turn: one now, or those of slots that lie in the past. Each takes an operator. */
import { z } from 'zod';
import type { Json } from '../../../core/encoding/json.ts';
import { assertPast, backfillSchedule } from '../../../operations/schedules/backfill-schedule.ts';
import { triggerSchedule } from '../../../operations/schedules/trigger-schedule.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, principalOf, readMutation } from '../../mutation.ts';
import { assertOwn, type ScheduleAddress, scheduleDeps } from './access.ts';

export const TriggerBody = z.strictObject({});

const Time = z.iso.datetime({ offset: true });
export const BackfillBody = z.strictObject({ from: Time, to: Time, dryRun: z.boolean().default(false) });

type Made = Readonly<Record<string, Json>>;

/** `POST /v1/schedules/{id}/trigger`. */
export async function triggerFromApi(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, TriggerBody);
  const { id } = at;
  await assertOwn(deps, caller, { id, key: mutation.key });
  const making = { ...mutation, locationOf: ({ runId }: Made) => `/v1/runs/${runId}` };
  return answerOnce(deps, caller, making, async (requestId) => {
    const { tenantId } = caller;
    const { trace, a2aCorrelationId } = mutation;
    const context = { trace, a2aCorrelationId };
    const request = { id, tenantId, actor: principalOf(caller), requestId, context };
    const runId = await triggerSchedule(scheduleDeps(deps), request);
    return { status: 201, body: { scheduleId: id, runId } };
  });
}

/** `POST /v1/schedules/{id}/backfill`: slots from `from` to `to`, both included. */
export async function backfillFromApi(deps: ApiDeps, caller: Caller, at: ScheduleAddress): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(at.request, BackfillBody);
  const { id } = at;
  const { dryRun } = mutation.body;
  const range = { from: Date.parse(mutation.body.from), until: Date.parse(mutation.body.to) };
  assertPast(deps.start, range);
  await assertOwn(deps, caller, { id, key: mutation.key });
  return answerOnce(deps, caller, mutation, async () => {
    const filled = await backfillSchedule(scheduleDeps(deps), {
      id,
      tenantId: caller.tenantId,
      ...range,
      isDryRun: dryRun,
    });
    return { status: 200, body: { scheduleId: id, dryRun, ...filled } };
  });
}
