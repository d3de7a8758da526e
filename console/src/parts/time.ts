/** Times and lengths of time as people read them. Pure; `now` is given. Times are ISO strings, lengths milliseconds. */

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

/** `3m ago`, `in 2h`, `now`. */
export function relative(iso: string, now: number): string {
  const away = Date.parse(iso) - now;
  if (Number.isNaN(away)) return iso;
  if (Math.abs(away) < 1_000) return 'now';
  return away < 0 ? `${duration(-away)} ago` : `in ${duration(away)}`;
}
