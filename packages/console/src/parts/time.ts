/** Formats times and durations. Pure; `now` is a parameter. Times are ISO strings, durations milliseconds. */

import { isFinal } from './run-status.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `1h 12m`, `3.4s`, `12ms`: two units at most. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)}s`;
  const at = UNITS.findIndex(([, length]) => ms >= length);
  const [unit, length] = UNITS[at] ?? UNITS[3];
  const whole = Math.floor(ms / length);
  const [nextUnit, nextLength] = UNITS[at + 1] ?? ['', 0];
  const rest = nextLength === 0 ? 0 : Math.floor((ms - whole * length) / nextLength);
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit} ${rest}${nextUnit}`;
}

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** As {@link duration}, but coarser for a growing time: whole seconds below a minute, whole minutes below an hour. */
export function roughly(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)}s`;
  return ms < HOUR ? `${Math.floor(ms / MINUTE)}m` : duration(ms);
}

/** `3m ago`, `in 2h 5m`, `now`. */
export function relative(iso: string, now: number): string {
  const away = Date.parse(iso) - now;
  if (Number.isNaN(away)) return iso;
  if (Math.abs(away) < 1_000) return 'now';
  return away < 0 ? `${roughly(-away)} ago` : `in ${roughly(away)}`;
}

/** `3m so far`, for something under way. */
export function soFar(ms: number): string {
  return `${roughly(Math.max(0, ms))} so far`;
}

export interface TimedRun {
  readonly status: string;
  readonly createdAt: string;
  readonly startedAt?: string | undefined;
  /** Set once the run has ended. */
  readonly durationMs?: number | undefined;
}

/** The time from the start of a run to its end or until now, in the same words on all pages. */
export function tookText(
  { status, createdAt, startedAt, durationMs }: TimedRun,
  now: number,
): string | undefined {
  if (durationMs !== undefined) return duration(durationMs);
  return isFinal(status) ? undefined : soFar(now - Date.parse(startedAt ?? createdAt));
}

/** `Sun 22 Nov 2026, 12:34:07 CET`, in the browser's time zone by default. A text that is not a time is unchanged. */
export function exactly(iso: string, timeZone?: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return `${formatted(at, 'day', timeZone).replace(',', '')}, ${formatted(at, 'time', timeZone)}`;
}

/** As {@link exactly}, but shorter: `22 Nov, 12:34:07 CET`, with the year only if it is not the current one. */
export function briefly(iso: string, now: number, timeZone?: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const year = at.getUTCFullYear() === new Date(now).getUTCFullYear() ? '' : ` ${at.getUTCFullYear()}`;
  return `${formatted(at, 'date', timeZone)}${year}, ${formatted(at, 'time', timeZone)}`;
}

const PARTS = {
  date: { day: 'numeric', month: 'short' },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  time: { timeStyle: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** A cache, because creating a formatter takes longer than all formatting of a page. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatted(at: Date, part: keyof typeof PARTS, timeZone: string | undefined): string {
  const key = `${part} ${timeZone}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...PARTS[part], timeZone });
  formats.set(key, format);
  return format.format(at);
}
