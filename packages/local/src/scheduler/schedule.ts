/** Slots of a schedule: `every N minutes` and similar, or a cron expression in a time zone. Pure. */
import { Cron } from 'croner';

/** Invalid schedule; the message names the supported formats. */
export class ScheduleError extends Error {
  constructor(schedule: string, why: string) {
    super(
      `schedule '${schedule}' ${why}; the local scheduler knows 'every N minutes|hours|days', 'every day HH:MM', 'every <weekday> HH:MM' and cron expressions of five fields`,
    );
    this.name = 'ScheduleError';
  }
}

export interface CronSchedule {
  /** The first moment after `afterMs`, in milliseconds since the epoch. */
  next(afterMs: number): number;
}

export interface ScheduleOptions {
  readonly timeZone: string;
  /** Length of a minute in `every 1 minutes`: production's minute, or less to avoid waiting. */
  readonly minuteMs: number;
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const EVERY_N = /^every (\d+) (minute|min|hour|day)s?$/;
const EVERY_AT = /^every (\w+) (\d{1,2}):(\d{2})$/;

export function readSchedule(text: string, { timeZone, minuteMs }: ScheduleOptions): CronSchedule {
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const every = EVERY_N.exec(words);
  if (every) return fixedRate(text, Number(every[1]), every[2] ?? '', minuteMs);
  const at = EVERY_AT.exec(words);
  const cron = at ? cronOf(text, at) : text.trim();
  if (cron.split(/\s+/).length !== 5) throw new ScheduleError(text, 'cannot be parsed');
  return cronSchedule(text, cron, timeZone);
}

/** Fires at multiples of its period since the epoch, so that two schedulers agree on the slots. */
function fixedRate(text: string, count: number, unit: string, minuteMs: number): CronSchedule {
  const minutes = unit === 'day' ? 1440 : unit === 'hour' ? 60 : 1;
  // Only schedules in minutes run faster here; a daily job every two hours would be a different job.
  const periodMs = unit.startsWith('min') ? count * minuteMs : count * minutes * 60_000;
  if (periodMs <= 0) throw new ScheduleError(text, 'has no period');
  return { next: (afterMs) => (Math.floor(afterMs / periodMs) + 1) * periodMs };
}

function cronOf(text: string, [, day = '', hour, minute]: RegExpExecArray): string {
  if (day === 'day') return `${Number(minute)} ${Number(hour)} * * *`;
  const weekday = WEEKDAYS.findIndex((name) => name === day || name.slice(0, 3) === day);
  if (weekday === -1) throw new ScheduleError(text, `has no weekday '${day}'`);
  return `${Number(minute)} ${Number(hour)} * * ${weekday}`;
}

function cronSchedule(text: string, line: string, timezone: string): CronSchedule {
  let cron: Cron;
  try {
    cron = new Cron(line, { paused: true, timezone, mode: '5-part' });
  } catch (error) {
    throw new ScheduleError(
      text,
      `cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
  return {
    next(afterMs) {
      const next = cron.nextRun(new Date(afterMs));
      if (next === null) throw new ScheduleError(text, 'never fires');
      return next.getTime();
    },
  };
}
