/**
 * Retention periods of ended runs: per way to end, and the time from which a run may be deleted.
 *
 * Must not: know a lineage; see lineage.ts.
 */

/** The ways to end, in the order in which retention checks them. */
export const END_STATUSES = ['cancelled', 'completed', 'failed'] as const;
export type EndStatus = (typeof END_STATUSES)[number];

/** For each way to end: ms since the end, or for ever. Absent: the installation's default. */
export type Retention = { readonly [S in EndStatus]?: number | 'forever' };

/**
 * Shortest retention: idempotency records of starts live for a day and must not reference deleted runs, and no dispatch
 * or publication of a deleted run may be running.
 */
export const MIN_RETENTION_MS = 24 * 3_600_000;

/** Retention by type of workflow; `undefined` for one that is not deployed. */
export type RetentionOf = (type: string, status: EndStatus) => number | undefined;

export function isEndStatus(status: string): status is EndStatus {
  return (END_STATUSES as readonly string[]).includes(status);
}

/** Time that a run is kept after its end, ms; undefined: for ever. `byDefault` is the installation's default. */
export function retentionMs(
  retention: Retention | undefined,
  status: EndStatus,
  byDefault: number | undefined,
): number | undefined {
  const own = retention?.[status];
  if (own === 'forever') return undefined;
  return own ?? byDefault;
}

/** Time from which a run may be deleted, epoch ms; undefined: never, or the run has not ended. */
export function expireAt(
  run: { readonly type: string; readonly status: string; readonly completedAt?: number | undefined },
  retentionOf: RetentionOf,
): number | undefined {
  const { type, status, completedAt } = run;
  if (completedAt === undefined || !isEndStatus(status)) return undefined;
  const keepMs = retentionOf(type, status);
  return keepMs === undefined ? undefined : completedAt + keepMs;
}
