/** Changes a schedule for a caller: reads, decides, writes if the version is unchanged, and otherwise starts over. */
import { CairnError } from '../../core/errors.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { changeVersioned, OVERTAKEN } from '../../journal/change-versioned.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { StoredSchedule } from '../../ports/schedule-store.ts';
import type { ScheduleDeps, ScheduleRef } from './deps.ts';

const CHANGES = 'changes of this schedule';
/** Form of schedule ids. Other ids are not looked up. */
const ID = /^[a-z][a-z0-9_.-]{0,220}$/;

/** @throws CairnError NOT_FOUND, also for a schedule of another tenant */
export async function ownSchedule(deps: ScheduleDeps, ref: ScheduleRef): Promise<StoredSchedule> {
  const found = await findSchedule(deps, ref);
  if (found) return found;
  throw new CairnError('NOT_FOUND', 'there is no such schedule: its id is wrong, or it was deleted', {
    help: 'GET /v1/schedules lists the schedules of your tenant.',
  });
}

/**
 * The schedule after the change. `decide` is called again for each newer version. It returns undefined if its change is
 * already present, for example after a lost response.
 *
 * @throws CairnError NOT_FOUND, UNAVAILABLE (send the same again), or errors of `decide`
 */
export async function changeSchedule(
  deps: ScheduleDeps,
  ref: ScheduleRef,
  decide: (current: Schedule) => Schedule | undefined,
): Promise<Schedule> {
  return changeVersioned(CHANGES, async () => {
    const { schedule, version } = await ownSchedule(deps, ref);
    const next = decide(schedule);
    if (!next) return schedule;
    const { kind } = await sendUntilKnown(deps, () => deps.schedules.write(next, version));
    return kind === 'written' ? next : OVERTAKEN;
  });
}

interface Removal {
  readonly assertMay: (current: Schedule) => void;
  /** True: a schedule that does not exist counts as deleted. */
  readonly mayBeDeleted: boolean;
}

/**
 * Deletes the schedule and keeps its runs.
 *
 * @throws CairnError NOT_FOUND, UNAVAILABLE (send the same again), or an error of `assertMay`
 */
export async function removeSchedule(
  deps: ScheduleDeps,
  ref: ScheduleRef,
  { assertMay, mayBeDeleted }: Removal,
): Promise<void> {
  let found = await (mayBeDeleted ? findSchedule(deps, ref) : ownSchedule(deps, ref));
  await changeVersioned(CHANGES, async () => {
    // The schedule was deleted meanwhile, perhaps by an earlier attempt of this request.
    if (!found) return;
    const { schedule, version } = found;
    assertMay(schedule);
    const { kind } = await sendUntilKnown(deps, () => deps.schedules.remove(ref.id, version));
    if (kind === 'written') return;
    found = await findSchedule(deps, ref);
    return OVERTAKEN;
  });
}

export async function findSchedule(
  deps: ScheduleDeps,
  { id, tenantId }: ScheduleRef,
): Promise<StoredSchedule | undefined> {
  if (!ID.test(id)) return undefined;
  const found = await sendUntilKnown(deps, () => deps.schedules.read(id));
  return found?.schedule.tenantId === tenantId ? found : undefined;
}
