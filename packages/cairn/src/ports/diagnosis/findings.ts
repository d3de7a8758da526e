/**
 * Runs that the store refuses to write, or whose dispatches all throw: one small document per run, outside the run. No decision
 * depends on it: it shows what lists of runs cannot, until it is outdated (`core/findings.ts`).
 */
import type { OpenFinding } from '../../core/integrity/found.ts';

/** A finding about one run. A later one replaces it. */
export interface RunFinding extends OpenFinding {
  readonly runId: string;
  readonly tenantId: string;
  readonly type: string;
  /** Step that was reached, if any. */
  readonly stepId?: string | undefined;
  /** Time of the last report, epoch ms. */
  readonly lastAt: number;
}

export const MAX_FINDING_CHARS = 500;
/** Most findings read at once. Each is one read, and they usually have a common cause. */
export const FINDINGS_READ = 50;

/** All methods throw `OutcomeUnknown` if it is unknown whether the call was applied. */
export interface FindingStore {
  /** Keeps `since` of an earlier finding about the run. */
  note(finding: RunFinding): Promise<void>;
  find(runId: string): Promise<RunFinding | undefined>;
  /** At most `limit`, by run id. With `after`: those after that run. */
  list(limit: number, after?: string): Promise<readonly RunFinding[]>;
  /** At most `limit` findings of one tenant, by run id. */
  ofTenant(tenantId: string, limit: number): Promise<readonly RunFinding[]>;
  /** Does nothing if there is none. */
  clear(runId: string): Promise<void>;
}
