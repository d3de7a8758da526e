/** Operations on schedules: create, change, pause, resume, delete. */
import { canonicalJson, type Json } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import { armed, disarmed, newSchedule, retimed } from '../../core/schedule/due.ts';
import { type Schedule, type ScheduleSpec, storedScheduleId } from '../../core/schedule/schedule.ts';
import { checkedTiming, type Timing } from '../../core/schedule/slots.ts';
import { assertTakesInput } from '../../engine/define/slot-input.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { changeSchedule, findSchedule, ownSchedule, removeSchedule } from './change-schedule.ts';
import { isDeclared } from './declared.ts';
import type { ScheduleDeps, ScheduleRef } from './deps.ts';
import { deployed } from './start-slot.ts';

interface NewSchedule extends ScheduleSpec {
  readonly tenantId: string;
  readonly name?: string | undefined;
  readonly actor: string;
  /** Identifies the request: a repetition creates the same schedule. 32 hex digits. */
  readonly requestId: string;
}

/**
 * Validates a new schedule before anything is read or written.
 *
 * @throws CairnError INVALID_INPUT with the name of the member, NOT_FOUND (no such workflow)
 */
export function assertSchedulable(deps: Pick<ScheduleDeps, 'registry'>, spec: ScheduleSpec): Timing {
  const timing = checkedTiming(spec);
  assertTakesInput(deployed(deps, spec.type), spec.input);
  return timing;
}

/**
 * Creates a schedule whose first slot is the next one from now.
 *
 * @throws CairnError INVALID_INPUT with the name of the member, NOT_FOUND (no such workflow), UNAVAILABLE (send the same again)
 */
export async function makeSchedule(deps: ScheduleDeps, request: NewSchedule): Promise<Schedule> {
  const { type, input, catchUp, tenantId, name, actor, requestId } = request;
  const now = deps.clock.now();
  const id = storedScheduleId(requestId);
  const known = await findSchedule(deps, { id, tenantId });
  if (known) return known.schedule;
  const timing = assertSchedulable(deps, request);
  const origin = 'stored';
  const schedule = newSchedule(
    { ...timing, name, id, tenantId, origin, type, input, catchUp, createdBy: actor },
    now,
  );
  const { kind } = await sendUntilKnown(deps, () => deps.schedules.create(schedule));
  if (kind === 'exists') return (await ownSchedule(deps, { id, tenantId })).schedule;
  deps.log.info('schedule_created', { scheduleId: id, type, tenantId, by: actor });
  return schedule;
}

interface ScheduleChanges {
  readonly cron?: string | undefined;
  readonly timezone?: string | undefined;
  readonly input?: Json | undefined;
  readonly catchUp?: Schedule['catchUp'] | undefined;
  /** Null removes the name. */
  readonly name?: string | null | undefined;
}

/**
 * Changes the given members. Another cron expression or time zone applies from now on: earlier slots are not caught up, except as
 * described at {@link retimed}.
 *
 * @throws CairnError NOT_FOUND, SCHEDULE_DECLARED, INVALID_INPUT, UNAVAILABLE (send the same again)
 */
export function patchSchedule(
  deps: ScheduleDeps,
  ref: ScheduleRef,
  changes: ScheduleChanges,
): Promise<Schedule> {
  return changeSchedule(deps, ref, (current) => {
    if (current.origin === 'declared') throw declaredBy(current, 'changed');
    const now = deps.clock.now();
    const { cron = current.cron, timezone = current.timezone, input = current.input } = changes;
    const { name: _, ...rest } = current;
    const name = changes.name === undefined ? current.name : (changes.name ?? undefined);
    const { catchUp = current.catchUp } = changes;
    const timing = checkedTiming({ cron, timezone });
    const next: Schedule = { ...rest, ...timing, input, catchUp, name };
    if (canonicalJson(specOf(next)) === canonicalJson(specOf(current)) && name === current.name)
      return undefined;
    if (changes.input !== undefined) assertTakesInput(deployed(deps, current.type), input);
    return { ...retimed(next, current, now), updatedAt: now };
  });
}

interface PauseSchedule extends ScheduleRef {
  readonly actor: string;
  readonly reason?: string | undefined;
}

/**
 * The first pause counts.
 *
 * @throws CairnError NOT_FOUND, SCHEDULE_DECLARED (no longer declared), UNAVAILABLE (send the same again)
 */
export function pauseSchedule(deps: ScheduleDeps, request: PauseSchedule): Promise<Schedule> {
  return changeSchedule(deps, request, (current) => {
    if (current.state === 'paused') return undefined;
    if (current.state === 'withdrawn') throw withdrawn(current);
    const now = deps.clock.now();
    const pause = { since: now, by: request.actor, reason: request.reason };
    return { ...disarmed(current, { state: 'paused', pause }), updatedAt: now };
  });
}

/**
 * Slots during the pause are not caught up; use a backfill.
 *
 * @throws CairnError NOT_FOUND, SCHEDULE_DECLARED (no longer declared), UNAVAILABLE (send the same again)
 */
export function resumeSchedule(deps: ScheduleDeps, ref: ScheduleRef): Promise<Schedule> {
  return changeSchedule(deps, ref, (current) => {
    if (current.state === 'active') return undefined;
    if (current.origin === 'declared' && !isDeclared(deps.registry, current.id)) throw withdrawn(current);
    const now = deps.clock.now();
    return { ...armed(current, now), updatedAt: now };
  });
}

/**
 * Refuses a declared schedule, because the next tick would create it again. One that is no longer declared can be deleted.
 *
 * @param mayBeDeleted true for the repetition of a request that may have deleted it
 * @throws CairnError NOT_FOUND, SCHEDULE_DECLARED, UNAVAILABLE (send the same again)
 */
export function deleteSchedule(
  deps: ScheduleDeps,
  ref: ScheduleRef,
  { mayBeDeleted }: { readonly mayBeDeleted: boolean },
): Promise<void> {
  const assertMay = (current: Schedule) => {
    if (current.origin === 'declared' && isDeclared(deps.registry, current.id))
      throw declaredBy(current, 'deleted');
  };
  return removeSchedule(deps, ref, { assertMay, mayBeDeleted });
}

function specOf({ type, cron, timezone, input, catchUp }: Schedule): { readonly [name: string]: Json } {
  return { type, cron, timezone, input, catchUp };
}

function declaredBy({ type }: Schedule, what: string): CairnError {
  return new CairnError(
    'SCHEDULE_DECLARED',
    `the schedule is declared by the workflow '${type}' and is ${what} there`,
  );
}

function withdrawn({ type }: Schedule): CairnError {
  return new CairnError('SCHEDULE_DECLARED', `the workflow '${type}' no longer declares the schedule`, {
    help: 'Delete the schedule, or deploy the workflow with it again.',
  });
}
