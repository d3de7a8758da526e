/** The clock of an installation, from the `Date` of its responses. Pure. */

/** Resolution of the header. */
const DATE_STEP_MS = 1_000;
/** Smaller differences are ignored. */
export const LEAST_OFFSET_MS = 2_000;
/** A slower response is too imprecise for a clock comparison. */
const MAX_ROUND_TRIP_MS = 5_000;

/**
 * Offset from the local clock to the installation's, ms; 0 within the measuring error. Undefined: unknown.
 *
 * @param date of the header; times in the local clock, epoch ms
 */
export function offsetMs(date: string | null, askedAt: number, answeredAt: number): number | undefined {
  const dateMs = date === null ? Number.NaN : Date.parse(date);
  const roundTripMs = answeredAt - askedAt;
  if (Number.isNaN(dateMs) || roundTripMs < 0 || roundTripMs > MAX_ROUND_TRIP_MS) return undefined;
  // The installation read its clock between the two times and truncated it to seconds.
  const earliest = dateMs - answeredAt;
  const latest = dateMs + DATE_STEP_MS - askedAt;
  if (earliest - LEAST_OFFSET_MS <= 0 && latest + LEAST_OFFSET_MS >= 0) return 0;
  return Math.round((earliest + latest) / 2);
}
