/** Common parts of the schedule routes: the schedule in the path, and whether a request is worth a record. */
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { ScheduleDeps } from '../../../operations/schedules/deps.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { assertThere } from '../../mutation.ts';
import type { Sent } from '../../route.ts';

export function scheduleDeps({ start, schedules, registry, environment }: ApiDeps): ScheduleDeps {
  return { ...start, schedules, registry, environment };
}

export function scheduleOf({ params, caller }: { params: { readonly id: string }; caller: Caller }) {
  return { id: params.id, tenantId: caller.tenantId };
}

/** @throws CairnError NOT_FOUND, unless the request is a repetition */
export function assertOwn(sent: Omit<Sent<'POST', '/v1/schedules/{id}/trigger'>, 'body'>): Promise<void> {
  return assertThere(sent, () => ownSchedule(scheduleDeps(sent.deps), scheduleOf(sent)));
}
