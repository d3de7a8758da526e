/** The report of a cleanup. */
import type { CleanupItem } from './request.ts';

type CleanupReport = {
  readonly stale: number;
  readonly removed: readonly string[];
  /** Items that could not be removed. */
  readonly failed: readonly string[];
  /** Items that were removed but are still listed. */
  readonly stillThere: readonly string[];
};

export interface Outcomes {
  readonly stale: readonly CleanupItem[];
  /** In the order of `stale`: the id, or null if the removal failed. */
  readonly removed: readonly (string | null)[];
  /** In the order of `stale`: true if it still exists; null or absent if unknown. */
  readonly left: readonly (boolean | null)[];
}

export function reportOf({ stale, removed, left }: Outcomes): CleanupReport {
  const ids = (holds: (i: number) => boolean) =>
    stale.map(({ id }, i) => (holds(i) ? id : undefined)).filter((id) => id !== undefined);
  return {
    stale: stale.length,
    removed: ids((i) => removed[i] !== null && left[i] !== true),
    failed: ids((i) => removed[i] === null),
    stillThere: ids((i) => removed[i] !== null && left[i] === true),
  };
}

/** Failures of the cleanup as text; undefined if none. */
export function shortcomings({ failed, stillThere }: CleanupReport): string | undefined {
  const parts = [
    failed.length > 0 ? `${failed.length} could not be removed` : undefined,
    stillThere.length > 0 ? `${stillThere.length} are still there` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}
