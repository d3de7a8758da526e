/** Between times of the API (ISO, UTC) and fields for a date and a time, which speak of the time where the browser is. Pure. */

const MINUTE_MS = 60_000;

/** @param at epoch ms */
export function localOf(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS);
  return shifted.toISOString().slice(0, 16);
}

/** Undefined where it is no time. */
export function isoOf(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
