/** A target of a bulk change: a run, or for approvals one of its questions. */

export const BULK_ACTS = ['cancel', 'resume', 'replay', 'approve'] as const;
export type BulkAct = (typeof BULK_ACTS)[number];

/** Largest number of runs per request. Each takes at least a read and a commit, and all must end within the time of a request. */
export const MAX_TARGETS = 100;

export interface BulkTarget {
  readonly runId: string;
  /** For approvals: key of the step. */
  readonly stepId?: string | undefined;
  readonly waitId?: string | undefined;
}

/** Removes repetitions and keeps the order. */
export function distinct(targets: readonly BulkTarget[]): readonly BulkTarget[] {
  const named = targets.map(
    (target) => [JSON.stringify([target.runId, target.stepId, target.waitId]), target] as const,
  );
  return [...new Map(named).values()];
}
