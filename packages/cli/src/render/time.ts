/** Points in time as the command line prints them. Pure. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2026-01-31 08:30:00 UTC`. */
export function moment(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** From the beginning of a run, always ten cells: `+0.012s`, `+1m 02.5s`, `+2h 03m`, `+3d 04h`. */
export function offset(ms: number): string {
  const span = Math.max(0, ms);
  const of = (unit: number, base: number) => String(Math.floor(span / unit) % base).padStart(2, '0');
  const text =
    span < MINUTE
      ? `+${(span / SECOND).toFixed(3)}s`
      : span < HOUR
        ? `+${Math.floor(span / MINUTE)}m ${((span % MINUTE) / SECOND).toFixed(1).padStart(4, '0')}s`
        : span < DAY
          ? `+${Math.floor(span / HOUR)}h ${of(MINUTE, 60)}m`
          : `+${Math.floor(span / DAY)}d ${of(HOUR, 24)}h`;
  return text.padStart(10);
}
