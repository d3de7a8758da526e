/** Reads `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date. */

/** A receiver that asks for longer is not waited for longer: it can say so again. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** Epoch ms; undefined for a missing or invalid header. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const at = /^\d+$/.test(text) ? now + Number(text) * 1000 : Date.parse(text);
  return Number.isNaN(at) ? undefined : notBeyond(at, now);
}

/** A retry time, clamped: not in the past, not days ahead. */
export function notBeyond(at: number, now: number): number {
  return Math.min(Math.max(at, now), now + LONGEST_MS);
}
