/**
 * Owns how a length of time is written in a workflow definition or a request.
 *
 * Must not: know the time of day.
 */
import { CairnError } from './errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longest duration: a hundred years. An unlimited time is expressed by omission. */
const MAX_DURATION_MS = 100 * 365 * 86_400_000;

/**
 * Milliseconds of `'1500ms'`, `'30s'`, `'5m'`, `'24h'`, `'2d'`, or of a number, which is milliseconds already.
 * A day is 24 hours.
 *
 * @param field of the error
 * @param label names the value in the message of the error
 * @throws CairnError INVALID_INPUT for anything else, also for negative and fractional times, and above a hundred years
 */
export function parseDuration(duration: string | number, field = 'duration', label = field): number {
  const ms = typeof duration === 'number' ? duration : parseText(duration);
  if (ms !== undefined && Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS) return ms;
  throw new CairnError('INVALID_INPUT', `${label} ${JSON.stringify(duration)} is not a duration`, {
    field,
    help: 'Use an integer and a unit: "1500ms", "30s", "5m", "24h" or "2d"; or an integer number of milliseconds.',
  });
}

function parseText(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,16})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** Most units of a duration in words. */
const MAX_UNITS = 2;

/** `'14d'`, `'1h 30m'`, `'1s 500ms'`: the units of {@link parseDuration}, the two largest of them. */
export function durationText(ms: number): string {
  let left = Math.max(0, Math.round(ms));
  const parts: string[] = [];
  for (const [unit, unitMs] of Object.entries(UNIT_MS).toReversed()) {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    if (count > 0) parts.push(`${count}${unit}`);
    if (parts.length === MAX_UNITS) break;
  }
  return parts.length === 0 ? '0ms' : parts.join(' ');
}
