/**
 * Decides which due slots of a schedule get a run now, which never get one, and up to which slot the schedule is settled.
 *
 * Must not: start anything.
 */
import { optional } from '../optional.ts';
import type { CatchUp, CatchUpReport, Schedule } from './schedule.ts';
import { newestSlots, nextSlot, slotsBetween } from './slots.ts';

/** A slot not older than this was not missed: ticks come every minute, and may be a little late. */
const ON_TIME_MS = 2 * 60_000;
/** Most slots in that time, both ends included. */
const ON_TIME_SLOTS = 3;
/** The most slots that are caught up; older ones are skipped. Two days of every three minutes. */
export const MAX_CATCH_UP = 1_000;
/** Most runs that one tick starts for one schedule; the next tick continues. */
export const MAX_FIRES = 50;

interface DueDecision {
  /** Slots to start a run for now, the oldest first. */
  readonly fire: readonly number[];
  /** Number of slots that never get a run, up to the limit of counting. */
  readonly skipped: number;
  /** When the runs are started, all slots up to and including this one are settled. */
  readonly settledUntil: number;
  /** About slots that were missed, if any were. */
  readonly catchUp?: CatchUpReport | undefined;
}

/** Decision for an active schedule at `now` (epoch ms). Deterministic. */
export function decideDue(schedule: Schedule, now: number): DueDecision {
  const { settledUntil, catchUp, lastCatchUp } = schedule;
  const { slots, more } = newestSlots(schedule, settledUntil, now, MAX_CATCH_UP);
  const missed = slots.filter((slot) => now - slot > ON_TIME_MS);
  const wanted = chosen(catchUp, slots, missed);
  const fire = wanted.slice(0, MAX_FIRES);
  const rest = wanted.length - fire.length;
  const [from] = missed;
  const until = missed.at(-1);
  // A catch-up that continues was reported as a whole by the earlier tick.
  const isNew = from !== undefined && (lastCatchUp === undefined || from > lastCatchUp.until);
  const made = missed.filter((slot) => wanted.includes(slot)).length;
  return {
    fire,
    skipped: slots.length - wanted.length,
    settledUntil: (rest > 0 ? fire.at(-1) : slots.at(-1)) ?? settledUntil,
    catchUp:
      isNew && until !== undefined
        ? { at: now, policy: catchUp, from, until, missed: missed.length, more, made }
        : undefined,
  };
}

function chosen(catchUp: CatchUp, slots: readonly number[], missed: readonly number[]): readonly number[] {
  const onTime = slots.slice(missed.length);
  if (catchUp === 'all') return slots;
  if (catchUp === 'latest' && onTime.length === 0) return missed.slice(-1);
  return onTime;
}

type Counted = 'state' | 'settledUntil' | 'fired' | 'skipped' | 'refused' | 'createdAt' | 'updatedAt';

/** A schedule that begins now: its first slot is the next one. */
export function newSchedule(of: Omit<Schedule, Counted>, now: number): Schedule {
  const counted = { fired: 0, skipped: 0, refused: 0, createdAt: now, updatedAt: now };
  return armed({ ...of, ...counted, state: 'active', settledUntil: now }, now);
}

/** The schedule active, with nothing due before the slot after `settledUntil`. */
export function armed(schedule: Schedule, settledUntil: number): Schedule {
  const { nextAt: _, pause: __, ...rest } = schedule;
  const nextAt = nextSlot(schedule, settledUntil);
  return { ...rest, state: 'active', settledUntil, nextAt };
}

/**
 * Arms the schedule again if it is active and its timing has changed. Earlier slots get no run, except recent ones that both
 * timings have, so that a change just after a slot does not lose it.
 *
 * @param before the schedule before the change
 */
export function retimed(schedule: Schedule, before: Schedule, now: number): Schedule {
  if (schedule.state !== 'active') return schedule;
  const isRetimed = schedule.cron !== before.cron || schedule.timezone !== before.timezone;
  const isOfSamePolicy = schedule.catchUp === before.catchUp;
  const { lastCatchUp, skipped } = withCatchUpEnded(before);
  const reported = { ...schedule, ...optional('lastCatchUp', lastCatchUp) };
  // Under another policy the next tick counts the slots that it skips.
  if (!isRetimed) return isOfSamePolicy ? schedule : reported;
  const since = Math.max(before.settledUntil, now - ON_TIME_MS - 1);
  const due = slotsBetween(schedule, since, now, ON_TIME_SLOTS);
  const nextKept = due.find((slot) => nextSlot(before, slot - 1) === slot);
  return armed({ ...reported, skipped }, nextKept === undefined ? now : nextKept - 1);
}

/** The schedule without its next slot. Slots that it has not caught up get no run. */
export function disarmed(
  schedule: Schedule,
  to: { readonly state: 'withdrawn' } | { readonly state: 'paused'; readonly pause: Schedule['pause'] & {} },
): Schedule {
  const { nextAt: _, pause: __, ...rest } = withCatchUpEnded(schedule);
  return { ...rest, ...to };
}

/** Ends a catch-up: the report and the count of skipped slots include the slots that get no run because of a change. */
function withCatchUpEnded(schedule: Schedule): Schedule {
  const { lastCatchUp: report, settledUntil, skipped } = schedule;
  if (report === undefined || report.until <= settledUntil) return schedule;
  const made = slotsBetween(schedule, report.from - 1, settledUntil, MAX_CATCH_UP).length;
  return { ...schedule, skipped: skipped + report.made - made, lastCatchUp: { ...report, made } };
}
