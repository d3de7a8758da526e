/** Durations in words, for texts. Pure: the current time is a parameter. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `12 ms`, `1.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 4 h`: truncated to the smaller unit. @param ms negative values count as 0 */
export function duration(ms: number): string {
  const span = Math.max(0, Math.round(ms));
  if (span < SECOND) return `${span} ms`;
  if (span < MINUTE) return `${trimmed(span / SECOND)} s`;
  if (span < HOUR) return two(span, [MINUTE, 'min'], [SECOND, 's']);
  if (span < DAY) return two(span, [HOUR, 'h'], [MINUTE, 'min']);
  return two(span, [DAY, 'd'], [HOUR, 'h']);
}

/** `3 min ago`, `in 1 d 23 h`: as {@link duration}, but with one unit below an hour. */
export function ago(at: string | undefined, now: number): string {
  if (at === undefined) return '';
  const span = now - Date.parse(at);
  if (Number.isNaN(span)) return at;
  const rough = roughly(Math.abs(span));
  return span < 0 ? `in ${rough}` : `${rough} ago`;
}

/** `3 min so far`, for something that has not ended. */
export function soFar(since: string, now: number): string {
  return `${roughly(Math.max(0, now - Date.parse(since)))} so far`;
}

type TimeUnit = readonly [number, string];

function two(span: number, [large, name]: TimeUnit, [small, smallName]: TimeUnit): string {
  const rest = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${name}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

function roughly(span: number): string {
  if (span < SECOND) return `${Math.round(span)} ms`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  return span < HOUR ? `${Math.floor(span / MINUTE)} min` : duration(span);
}

/** One decimal, none for whole numbers. */
function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}
