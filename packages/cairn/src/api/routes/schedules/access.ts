/** Common parts of the schedule routes: the schedule in the path, and whether a request is worth a record. */
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { Caller } from '../../auth.ts';
import type { MutationCall } from '../../route.ts';

export function scheduleOf({ params, caller }: { params: { readonly id: string }; caller: Caller }) {
  return { id: params.id, tenantId: caller.tenantId };
}

/** @throws CairnError NOT_FOUND */
export async function assertOwnSchedule(
  call: Omit<MutationCall<'POST /v1/schedules/{id}/trigger'>, 'body'>,
): Promise<void> {
  await ownSchedule(call.deps, scheduleOf(call));
}
