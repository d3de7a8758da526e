/** Statistics of runs as text. Pure. */
import type { Statistics } from './use-statistics.ts';

/** `0.4 %`, `12 %`; `—` if no run completed or failed. */
export function shareText(share: number | undefined): string {
  if (share === undefined) return '—';
  const percent = share * 100;
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(1)} %`;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

interface RateOf extends Pick<Statistics, 'from' | 'until'> {
  readonly total: Pick<Statistics['total'], 'runs'>;
}

/** `12 per hour`, `3 per day`: in the shortest unit with a rate of at least one. */
export function rateText({ from, until, total }: RateOf): string {
  const ms = Math.max(1, Date.parse(until) - Date.parse(from));
  const units = [
    ['minute', 60_000],
    ['hour', HOUR_MS],
    ['day', DAY_MS],
  ] as const;
  const [unit, length] = units.find(([, each]) => (total.runs * each) / ms >= 1) ?? units[2];
  const rate = (total.runs * length) / ms;
  return `${rate >= 10 ? Math.round(rate) : Number(rate.toFixed(1))} per ${unit}`;
}
