/**
 * Finds times of day that a clock skips when it jumps over midnight, as in America/Nuuk, where 23:00 becomes 00:00 of the next
 * day. croner has no slot for them; for a jump within a day it has one, at the jump.
 *
 * Must not: read the clock.
 */
import { Cron } from 'croner';
import type { Timing } from './slots.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** No zone sets its clock forward and back again within this time, so a comparison of the offsets at both ends finds each jump. */
const STRIDE_MS = 7 * DAY_MS;

/** The first jump after `after` and before `until` that skips midnight and a time of the cron expression; undefined: none. */
type FindJump = (after: number, until: number) => number | undefined;

export function skippedSlotFinder(timing: Timing): FindJump {
  const offsetAt = offsetIn(timing.timezone);
  return (after, until) => firstJump(timing, { offsetAt, after, until });
}

interface Search {
  readonly offsetAt: (at: number) => number;
  readonly after: number;
  readonly until: number;
}

function firstJump(timing: Timing, { offsetAt, after, until }: Search): number | undefined {
  let offset = offsetAt(after);
  for (let from = after; from < until; from += STRIDE_MS) {
    const before = offset;
    const end = Math.min(from + STRIDE_MS, until);
    offset = offsetAt(end);
    if (offset <= before) continue;
    const jump = firstMinute(from, end, (at) => offsetAt(at) !== before);
    const [left, reached] = [jump + before, jump + offset];
    const isOverMidnight = Math.floor((left - 1) / DAY_MS) !== Math.floor(reached / DAY_MS);
    if (isOverMidnight && jump > after && jump < until && hasTime(timing, left, reached)) return jump;
  }
  return undefined;
}

/** @param from local time as if it were UTC, included; `until` likewise, excluded */
function hasTime({ cron }: Timing, from: number, until: number): boolean {
  const times = new Cron(cron, { paused: true, timezone: 'Etc/UTC', mode: '5-part' });
  const next = times.nextRun(new Date(from - 1))?.getTime();
  return next !== undefined && next < until;
}

/** The first whole minute after `from` at which the condition holds. It must hold at `end`. */
function firstMinute(from: number, end: number, condition: (at: number) => boolean): number {
  let early = Math.floor(from / MINUTE_MS);
  let late = Math.ceil(end / MINUTE_MS);
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (condition(middle * MINUTE_MS)) late = middle;
    else early = middle;
  }
  return late * MINUTE_MS;
}

/** Offset of the zone from UTC by the time, ms. */
function offsetIn(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (at) => {
    const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    const parts = new Map(format.formatToParts(minute).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute')) - minute;
  };
}
