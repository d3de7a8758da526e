/** What the routes of schedules have in common: which one is meant, and whether a request about it is worth a record. */
import { apiKey } from '../../../core/encoding/keys.ts';
import { CairnError } from '../../../core/errors.ts';
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import { ownSchedule } from '../../../operations/schedules/change-schedule.ts';
import type { ScheduleDeps } from '../../../operations/schedules/deps.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { principalOf } from '../../mutation.ts';

export interface ScheduleAddress {
  readonly id: string;
  readonly request: Request;
}

export function scheduleDeps({ start, schedules, registry, environment }: ApiDeps): ScheduleDeps {
  return { ...start, schedules, registry, environment };
}

/**
 * A request about a schedule that is not there leaves nothing behind; but a repetition is answered as before, also when
 * the schedule was deleted since, be it by that very request.
 *
 * @throws CairnError NOT_FOUND
 */
export async function assertOwn(
  deps: ApiDeps,
  caller: Caller,
  { id, key }: { readonly id: string; readonly key: string | undefined },
): Promise<void> {
  try {
    await ownSchedule(scheduleDeps(deps), { id, tenantId: caller.tenantId });
  } catch (error) {
    const isGone = error instanceof CairnError && error.code === 'NOT_FOUND';
    if (!isGone || key === undefined) throw error;
    const record = apiKey(principalOf(caller), key);
    if (!(await sendUntilKnown(deps.start, () => deps.start.records.read(record)))) throw error;
  }
}
