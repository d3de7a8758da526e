/**
 * Times of schedules: cron expressions of five fields in a time zone, and their *slots* (epoch ms). The same expression
 * and zone give the same slots, wherever the enumeration starts.
 *
 * At clock changes: an expression without `*` in minute and hour names a time of the day, and is due once for each (a
 * time that the day skips: when the clock jumps). Other expressions follow the local clock: due in both of two equal
 * hours, not in a skipped one.
 *
 * Must not: read the clock.
 */
import { Cron } from 'croner';
import { type CairnError, invalidInput } from '../errors.ts';
import { skippedSlotFinder } from './skipped-times.ts';

/** When a schedule is due. */
export interface Timing {
  /** Minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** A name of the IANA data base, e.g. `Europe/Berlin`. */
  readonly timezone: string;
}

/** Five fields in the syntax that all cron implementations share. `@daily` and `?` differ between implementations. */
const FIELDS = /^[0-9A-Za-z*,/#-]+( [0-9A-Za-z*,/#-]+){4}$/;
/** Minute and hour without `*`: due once a day at each of these times. */
const NAMES_TIMES = /^[^* ]+ [^* ]+ /;
const MAX_CRON_CHARS = 200;
/** Offsets like `+01:00` are refused because they ignore daylight saving time. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,99}$/;
const MINUTE_MS = 60_000;
/** A cron expression has no year, so whether it ever matches does not depend on this time. */
const ANY_TIME = Date.UTC(2024, 0, 1);

/**
 * The timing with single spaces between the fields.
 *
 * @throws CairnError INVALID_INPUT naming the member, also for an expression that never matches
 */
export function checkedTiming({ cron, timezone }: Timing): Timing {
  if (!ZONE.test(timezone) || !isKnownZone(timezone)) {
    throw refused('timezone', 'is not a time zone', 'Use an IANA name such as "Europe/Berlin" or "Etc/UTC".');
  }
  const normalized = cron.trim().replace(/\s+/g, ' ');
  if (cron.length > MAX_CRON_CHARS || !FIELDS.test(normalized)) {
    throw refused('cron', 'is not a cron expression of five fields', CRON_HELP);
  }
  let first: number | undefined;
  try {
    new Cron(normalized, { paused: true, mode: '5-part' });
    first = nextSlot({ cron: normalized, timezone }, ANY_TIME);
  } catch (cause) {
    throw invalidInput('cron', 'the cron expression cannot be parsed', { help: CRON_HELP, cause });
  }
  if (first === undefined) throw refused('cron', 'never matches a time', CRON_HELP);
  return { cron: normalized, timezone };
}

const CRON_HELP = 'Use minute, hour, day of month, month and day of week, for example "30 3 * * MON-FRI".';

/** The first slot after a moment; undefined: none. */
export function nextSlot(timing: Timing, after: number): number | undefined {
  return slotFinder(timing)(after);
}

/** As {@link nextSlot}, for many moments: the expression is parsed, and the time zone loaded, once. */
function slotFinder(timing: Timing): (after: number) => number | undefined {
  const cron = cronOf(timing);
  const skippedSlot = NAMES_TIMES.test(timing.cron) ? skippedSlotFinder(timing) : undefined;
  return (after) => {
    const next = cron.nextRun(new Date(after))?.getTime();
    return next === undefined ? undefined : (skippedSlot?.(after, next) ?? next);
  };
}

/** The first `limit` slots after `after`, up to and including `until`, in order. */
export function slotsBetween(timing: Timing, after: number, until: number, limit: number): number[] {
  const slotAfter = slotFinder(timing);
  const slots: number[] = [];
  let last = after;
  while (slots.length < limit) {
    const next = slotAfter(last);
    // A slot that is not later would repeat without end.
    if (next === undefined || next > until || next <= last) break;
    slots.push(next);
    last = next;
  }
  return slots;
}

interface NewestSlots {
  /** In order. */
  readonly slots: readonly number[];
  /** True if older slots were omitted. */
  readonly more: boolean;
}

/** The slots after `after`, up to and including `until`; of more than `limit`, about the newest `limit`. */
export function newestSlots(timing: Timing, after: number, until: number, limit: number): NewestSlots {
  const all = slotsBetween(timing, after, until, limit + 1);
  if (all.length <= limit) return { slots: all, more: false };
  // More than `limit` slots follow `early`, at most `limit` follow `late`.
  let early = after;
  let late = until;
  while (late - early > MINUTE_MS) {
    const middle = early + Math.floor((late - early) / 2);
    if (slotsBetween(timing, middle, until, limit + 1).length > limit) early = middle;
    else late = middle;
  }
  return { slots: slotsBetween(timing, late, until, limit), more: true };
}

function cronOf({ cron, timezone }: Timing): Cron {
  const named = NAMES_TIMES.test(cron) ? cron.replace(STEPPED_RANGE, listedTimes) : cron;
  return new Cron(named, { paused: true, timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
}

/** A stepped range of minutes or hours, such as `0-30/10`. It is listed, because croner treats it as a wildcard. */
const STEPPED_RANGE = /(?<=^\S*(?: \S*)?)(\d+)-(\d+)\/(\d+)/g;

function listedTimes(_: string, first: string, last: string, step: string): string {
  const times: number[] = [];
  for (let time = Number(first); time <= Number(last); time += Number(step)) times.push(time);
  return times.join(',');
}

function isKnownZone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return true;
  } catch {
    // RangeError: the runtime does not know it.
    return false;
  }
}

function refused(field: keyof Timing, problem: string, help: string): CairnError {
  return invalidInput(field, `${field} ${problem}`, { help });
}
