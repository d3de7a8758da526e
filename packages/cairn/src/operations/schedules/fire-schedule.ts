/**
 * Fires one due schedule: starts the runs of its slots, then advances it. Because of this order, a crash fires slots
 * again, which gives the same runs. Ticks may run concurrently.
 */
import { CairnError } from '../../core/errors.ts';
import { LONGEST_CHECK_MS } from '../../core/run/wake.ts';
import { armed, decideDue, disarmed } from '../../core/schedule/due.ts';
import type { Schedule, SlotResult } from '../../core/schedule/schedule.ts';
import { nextSlot } from '../../core/schedule/slots.ts';
import { isPlanMissing } from '../../engine/definition-of-run.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { isDeclared } from './declared.ts';
import type { ScheduleDeps } from './deps.ts';
import { startSlot } from './start-slot.ts';

export interface Fired {
  /** Runs of slots, either started by this call or found. */
  readonly fired: number;
  readonly skipped: number;
  readonly refused: number;
}

const NOTHING: Fired = { fired: 0, skipped: 0, refused: 0 };

/**
 * Fires a schedule; does nothing if it is not due any more. A slot whose start is refused counts as handled, because it would be
 * refused again. If a start fails for another reason, the schedule advances to that slot and the next tick continues. If the workflow
 * is not deployed, or its definition changed without a new version, the start is tried again at the next slot or in ten minutes,
 * whichever is earlier (after an hour always in ten minutes), and `catchUp` applies to the slots until it succeeds.
 *
 * @throws errors of a start or of the store
 */
export async function fireSchedule(deps: ScheduleDeps, id: string): Promise<Fired> {
  const { schedules, clock, log, registry } = deps;
  const found = await sendUntilKnown(deps, () => schedules.read(id));
  if (!found) return NOTHING;
  const { schedule, version } = found;
  const now = clock.now();
  if (schedule.nextAt === undefined || schedule.nextAt > now) return NOTHING;
  const write = (next: Schedule) => sendUntilKnown(deps, () => schedules.write(next, version));
  if (schedule.origin === 'declared' && !isDeclared(registry, id)) {
    await write({ ...disarmed(schedule, { state: 'withdrawn' }), updatedAt: now });
    log.warn('schedule_withdrawn', { scheduleId: id, type: schedule.type });
    return NOTHING;
  }
  const decision = decideDue(schedule, now);
  const { outcomes, failure } = await fireSlots(deps, schedule, decision.fire);
  const last = outcomes.at(-1);
  const blocked = failure?.blocked;
  if (failure && !blocked && last === undefined) throw failure.error;
  const refused = outcomes.filter(({ error }) => error !== undefined).length;
  const done = { fired: outcomes.length - refused, skipped: decision.skipped, refused };
  const settledUntil = failure ? (last?.slot ?? schedule.settledUntil) : decision.settledUntil;
  const moved = armed(schedule, settledUntil);
  // If the version is stale, another tick did the same or the schedule was changed. Both writes are newer.
  await write({
    ...moved,
    ...(blocked && { nextAt: nextTry(schedule, now) }),
    last: blocked ?? last ?? schedule.last,
    lastCatchUp: (blocked ? undefined : decision.catchUp) ?? schedule.lastCatchUp,
    fired: schedule.fired + done.fired,
    skipped: schedule.skipped + (blocked ? 0 : done.skipped),
    refused: schedule.refused + done.refused,
  });
  if (blocked) return { ...done, skipped: 0 };
  if (failure) throw failure.error;
  if (decision.catchUp) {
    const { missed, made, policy } = decision.catchUp;
    log.warn('schedule_caught_up', { scheduleId: id, missed, made, policy });
  }
  return done;
}

/** Time for which a blocked schedule is also tried at its slots: its missed slots are still few, so that a try is cheap. */
const TRIED_AT_SLOTS_MS = 60 * 60_000;

/** Later than the next tick, so that schedules that cannot start do not displace others. */
function nextTry(schedule: Schedule, now: number): number {
  const latest = now + LONGEST_CHECK_MS;
  if (now - schedule.settledUntil > TRIED_AT_SLOTS_MS) return latest;
  return Math.min(latest, nextSlot(schedule, now) ?? latest);
}

interface SlotsFired {
  readonly outcomes: readonly SlotResult[];
  /** The reason why the remaining slots were not fired. `blocked`: until another definition is deployed. */
  readonly failure?: { readonly error: unknown; readonly blocked?: SlotResult };
}

/** Fires slots one by one, so that the handled slots always precede the others. */
async function fireSlots(
  deps: ScheduleDeps,
  schedule: Schedule,
  slots: readonly number[],
): Promise<SlotsFired> {
  const outcomes: SlotResult[] = [];
  for (const slot of slots) {
    const at = deps.clock.now();
    try {
      const { runId } = await startSlot(deps, schedule, slot);
      outcomes.push({ slot, at, runId });
    } catch (error) {
      if (!isRefusal(error)) return { outcomes, failure: { error } };
      const { code, message } = error;
      const refused = { slot, at, error: { code, message } };
      if (isPlanMissing(error) || !deps.registry.newest(schedule.type)) {
        deps.log.error('schedule_blocked', { scheduleId: schedule.id, slot, code, error: message });
        return { outcomes, failure: { error, blocked: refused } };
      }
      deps.log.error('schedule_refused', { scheduleId: schedule.id, slot, code, error: message });
      outcomes.push(refused);
    }
  }
  return { outcomes };
}

/** Returns true if a repetition would give the same error. */
export function isRefusal(error: unknown): error is CairnError {
  return error instanceof CairnError && error.httpStatus < 500 && error.httpStatus !== 429;
}
