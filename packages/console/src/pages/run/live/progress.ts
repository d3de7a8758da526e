/** The newest progress report of a body, and the share of its work that it states, if any. Pure. */
import type { Run } from './events.ts';

export type BodyProgress = NonNullable<Run['progress']>[number];

/** From 0 to 1, from details like `{ percent: 45 }` or `{ done: 9, total: 20 }`; undefined: they contain no share. */
export function shareOf(details: unknown): number | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const { percent, done, total } = details as Readonly<Record<string, unknown>>;
  if (typeof percent === 'number') return within(percent / 100);
  if (typeof done !== 'number' || typeof total !== 'number' || total <= 0) return undefined;
  return within(done / total);
}

/** `45%`: whole, and 100% only once all is done. */
export function percentText(share: number): string {
  return `${Math.floor(share * 100)}%`;
}

function within(share: number): number | undefined {
  return share >= 0 && share <= 1 ? share : undefined;
}
