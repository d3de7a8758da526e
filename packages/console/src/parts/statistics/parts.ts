/** Figures of each period within a time range, for all versions or one, and their texts. Pure. */
import { duration } from '../time.ts';
import { countOf } from '../visible-text.ts';
import type { Statistics } from './use-statistics.ts';
import { rateText, shareText } from './words.ts';

type StatisticsPart = Statistics['parts'][number];

/** Figures of a period, as charts and the table show them. */
export type PartShown = Pick<
  StatisticsPart,
  'from' | 'runs' | 'completed' | 'failed' | 'failureShare' | 'p50Ms' | 'p95Ms'
> & { readonly until: string };

const NONE = { runs: 0, completed: 0, failed: 0 };

/** @param version undefined: all versions */
export function partsOf(
  { parts, until }: Pick<Statistics, 'parts' | 'until'>,
  version?: number,
): readonly PartShown[] {
  return parts.map((part, i) => {
    const figures =
      version === undefined
        ? part
        : (part.versions?.find(({ planVersion }) => planVersion === version) ?? NONE);
    return { ...figures, from: part.from, until: parts[i + 1]?.from ?? until };
  });
}

/** `23 Nov 13:05: 12 runs, 9 completed, 2 failed (18 %), 1 other, p50 2.1s, p95 9.4s`. */
export function partText(part: PartShown): string {
  const { from, runs, completed, failed, failureShare } = part;
  const others = runs - completed - failed;
  const share = failed > 0 ? ` (${shareText(failureShare)})` : '';
  const times = timesText(part);
  return `${stamp(from)}: ${countOf(runs, 'run')}, ${completed} completed, ${failed} failed${share}, ${countOf(others, 'other')}${times && `, ${times}`}`;
}

/** `p50 2.1s, p95 9.4s`; empty if no run completed. */
export function timesText({ p50Ms, p95Ms }: Pick<PartShown, 'p50Ms' | 'p95Ms'>): string {
  if (p50Ms === undefined || p95Ms === undefined) return '';
  return `p50 ${duration(p50Ms)}, p95 ${duration(p95Ms)}`;
}

export function partRateText({ from, until, runs }: PartShown): string {
  return rateText({ from, until, total: { runs } });
}

/** `23 Nov 13:05`, UTC. */
export function stamp(iso: string): string {
  const at = new Date(iso);
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return `${day} ${at.toISOString().slice(11, 16)}`;
}
