/** What the routes of schedules have in common: which one is meant, and whether a request about it is worth a record. */
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { ScheduleDeps } from '../../../operations/schedules/deps.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { assertThere } from '../../mutation.ts';

export interface ScheduleAddress {
  readonly id: string;
  readonly request: Request;
}

export function scheduleDeps({ start, schedules, registry, environment }: ApiDeps): ScheduleDeps {
  return { ...start, schedules, registry, environment };
}

/** @throws CairnError NOT_FOUND, unless the request is a repetition */
export function assertOwn(
  deps: ApiDeps,
  caller: Caller,
  { id, key }: { readonly id: string; readonly key: string | undefined },
): Promise<void> {
  const { tenantId } = caller;
  return assertThere(deps, caller, { key, look: () => ownSchedule(scheduleDeps(deps), { id, tenantId }) });
}
