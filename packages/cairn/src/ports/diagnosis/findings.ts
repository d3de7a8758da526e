/**
 * Runs that the store refuses to write, or whose dispatches all throw: one small document a run, outside the run. It decides
 * nothing: it shows what lists of runs cannot, until it is outdated (`core/findings.ts`).
 */
import type { OpenFinding } from '../../core/integrity/found.ts';

/** A finding about one run; a later one replaces the one before. */
export interface RunFinding extends OpenFinding {
  readonly runId: string;
  readonly tenantId: string;
  readonly type: string;
  /** Step that was reached, if any. */
  readonly stepId?: string | undefined;
  /** When it was named last, epoch ms. */
  readonly lastAt: number;
}

export const MAX_FINDING_CHARS = 500;
/** Most findings read at once: they usually have a common cause. Each is one read. */
export const FINDINGS_READ = 50;

/** All throw `OutcomeUnknown` where it cannot be known whether the call was applied. */
export interface FindingStore {
  /** Keeps `since` of an earlier one of the run. */
  note(finding: RunFinding): Promise<void>;
  find(runId: string): Promise<RunFinding | undefined>;
  /** At most `limit`, by run id; `after`: after that run. */
  list(limit: number, after?: string): Promise<readonly RunFinding[]>;
  /** Those of one tenant, likewise. */
  ofTenant(tenantId: string, limit: number): Promise<readonly RunFinding[]>;
  /** Does nothing if there is none. */
  clear(runId: string): Promise<void>;
}
