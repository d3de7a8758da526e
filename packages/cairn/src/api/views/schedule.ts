/** A schedule as callers see it. */
import type { Json } from '../../core/encoding/json.ts';
import type { CatchUpReport, Schedule, SlotResult } from '../../core/schedule/schedule.ts';
import { slotsBetween } from '../../core/schedule/slots.ts';
import { iso } from './values.ts';

/** Number of future slots shown: enough to recognize a mistake in a cron expression. */
const SHOWN_AHEAD = 5;
const FAR_AHEAD = Number.MAX_SAFE_INTEGER;

export type ScheduleView = { readonly [name: string]: Json | undefined };

export function scheduleView(schedule: Schedule): ScheduleView {
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
    nextAt: nextAt === undefined ? undefined : iso(nextAt),
    pause: pause && { ...pause, since: iso(pause.since) },
    last: last && outcomeView(last),
    lastCatchUp: lastCatchUp && catchUpView(lastCatchUp),
    slots: { fired, skipped, refused },
    createdBy,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** With the next slots, also of one that is paused: they say what its line means. @param now epoch ms */
export function scheduleDetails(schedule: Schedule, now: number): ScheduleView {
  const ahead = slotsBetween(
    schedule,
    schedule.nextAt === undefined ? now : schedule.nextAt - 1,
    FAR_AHEAD,
    SHOWN_AHEAD,
  );
  return { ...scheduleView(schedule), upcoming: ahead.map(iso) };
}

function outcomeView({ slot, at, runId, error }: SlotResult): ScheduleView {
  return { slot: iso(slot), at: iso(at), runId, error: error && { ...error } };
}

function catchUpView({ at, from, until, ...counts }: CatchUpReport): ScheduleView {
  return { at: iso(at), from: iso(from), until: iso(until), ...counts };
}
