/**
 * Converts times of the API (ISO, UTC) for display and input: date and time fields use the time zone of the browser,
 * slots that of their schedule. Pure.
 */

const MINUTE_MS = 60_000;

/** @param at epoch ms */
export function localOf(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS);
  return shifted.toISOString().slice(0, 16);
}

/** Undefined if it is not a valid time. */
export function isoOf(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** `Mon, 23 Nov 2026, 03:30`; unchanged if the browser does not know the zone. */
export function inZone(iso: string, timezone: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    }).format(new Date(iso));
  } catch {
    return iso;
  }
}
