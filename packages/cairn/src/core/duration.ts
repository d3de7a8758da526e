/**
 * Parses and formats durations of workflow definitions and requests.
 *
 * Must not: know the time of day.
 */
import { invalidInput } from './errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longest duration: a hundred years. To set no limit, omit the option. */
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
  throw invalidInput(field, `${label} ${JSON.stringify(duration)} is not a duration`, {
    help: 'Use an integer and a unit: "1500ms", "30s", "5m", "24h" or "2d"; or an integer number of milliseconds.',
  });
}

function parseText(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,16})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** `'14d'`, `'1h 30m'`, `'1s 500ms'`: in the units of {@link parseDuration}, truncated to the two largest. */
export function durationText(ms: number): string {
  const [largest, next] = unitsOf(ms);
  return textOf(next && largest && next.place === largest.place + 1 ? [largest, next] : [largest ?? NONE]);
}

/** `'1d 5ms'`: as {@link durationText}, but exact, so that different durations have different texts. */
export function exactDurationText(ms: number): string {
  const units = unitsOf(ms);
  return textOf(units.length === 0 ? [NONE] : units);
}

interface UnitCount {
  readonly count: number;
  readonly unit: string;
  /** Number of the units that are larger. */
  readonly place: number;
}

const NONE: UnitCount = { count: 0, unit: 'ms', place: 0 };

/** The units that a duration has, the largest first. */
function unitsOf(ms: number): UnitCount[] {
  let left = Math.max(0, Math.round(ms));
  const units = Object.entries(UNIT_MS).toReversed();
  return units.flatMap(([unit, unitMs], place) => {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    return count > 0 ? [{ count, unit, place }] : [];
  });
}

function textOf(units: readonly UnitCount[]): string {
  return units.map(({ count, unit }) => `${count}${unit}`).join(' ');
}
