/** Reads `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date. */

/** A longer time is shortened to this. The receiver can return the rest at the next attempt. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Some receivers send fractions of a second, although the RFC does not allow them. */
const SECONDS = /^\d+(?:\.\d+)?$/;
/** All date formats begin with the day of the week. `Date.parse` would read `-5` and `1.5` as days of the year 2001. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/** Epoch ms; undefined for a missing or invalid header. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const at = SECONDS.test(text)
    ? now + Math.ceil(Number(text) * 1000)
    : Date.parse(DATE.test(text) ? text : '');
  return Number.isNaN(at) ? undefined : capped(at, now);
}

/** Limits a retry time: not in the past, and not days ahead. */
export function capped(at: number, now: number): number {
  return Math.min(Math.max(at, now), now + LONGEST_MS);
}
