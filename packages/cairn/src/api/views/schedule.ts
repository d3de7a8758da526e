/** A schedule as callers see it. */
import { iso, isoIf } from '../../core/run/readable.ts';
import type { CatchUpReport, Schedule, SlotResult } from '../../core/schedule/schedule.ts';
import { slotsBetween } from '../../core/schedule/slots.ts';
import type { View } from './run.ts';

/** Number of future slots shown: enough to recognize a mistake in a cron expression. */
const SHOWN_AHEAD = 5;
const FAR_AHEAD = Number.MAX_SAFE_INTEGER;

export function scheduleView(schedule: Schedule): View {
  const { id, name, origin, state, type, cron, timezone, input, catchUp } = schedule;
  const { nextAt, pause, last, lastCatchUp, createdBy, createdAt, updatedAt } = schedule;
  const { fired, skipped, refused } = schedule;
  return {
    id,
    name,
    origin,
    state,
    type,
    cron,
    timezone,
    input,
    catchUp,
    nextAt: isoIf(nextAt),
    pause: pause && { ...pause, since: iso(pause.since) },
    last: last && outcomeView(last),
    lastCatchUp: lastCatchUp && catchUpView(lastCatchUp),
    slots: { fired, skipped, refused },
    createdBy,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** Includes the next slots, even if the schedule is paused, because they explain the cron expression. @param now epoch ms */
export function scheduleDetails(schedule: Schedule, now: number): View {
  const ahead = slotsBetween(
    schedule,
    schedule.nextAt === undefined ? now : schedule.nextAt - 1,
    FAR_AHEAD,
    SHOWN_AHEAD,
  );
  return { ...scheduleView(schedule), upcoming: ahead.map(iso) };
}

function outcomeView({ slot, at, runId, error }: SlotResult): View {
  return { slot: iso(slot), at: iso(at), runId, error: error && { ...error } };
}

function catchUpView({ at, from, until, ...counts }: CatchUpReport): View {
  return { at: iso(at), from: iso(from), until: iso(until), ...counts };
}
