/** One run of a change of many runs; of an approval, one of its questions. */

export const BULK_ACTS = ['cancel', 'resume', 'replay', 'approve'] as const;
export type BulkAct = (typeof BULK_ACTS)[number];

/** Most runs of one request: each takes a read and a commit at least, and the whole must end within the time of a request. */
export const MAX_TARGETS = 100;

export interface BulkTarget {
  readonly runId: string;
  /** Key of the step, of an approval. */
  readonly stepId?: string | undefined;
  readonly waitId?: string | undefined;
}

/** Once each, in the order of their first mention. */
export function distinct(targets: readonly BulkTarget[]): readonly BulkTarget[] {
  return [...new Map(targets.map((target) => [nameOf(target), target])).values()];
}

/** The same for the same target only. */
export function nameOf({ runId, stepId, waitId }: BulkTarget): string {
  return JSON.stringify([runId, stepId, waitId]);
}
