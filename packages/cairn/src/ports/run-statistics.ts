/**
 * Statistics over many runs: versions in use, and runs due soon. Reads snapshots, which may lag behind a running run
 * (J7). No decision depends on it.
 */
import type { RunStatus } from '../core/run/status.ts';

/** Runs of one tenant that have not ended and are pinned to this version. */
export interface LiveVersion {
  readonly type: string;
  readonly planVersion: number;
  readonly runs: number;
}

/** A run that must be scanned by `wakeAt`, epoch ms. */
export interface DueEntry {
  readonly runId: string;
  readonly tenantId: string;
  readonly type: string;
  readonly wakeAt: number;
}

/** Number of runs of one tenant with a status that is not final. */
export interface ActiveRuns {
  readonly status: RunStatus;
  readonly runs: number;
}

export interface DueQuery {
  /** Only runs whose `wakeAt` is at or before this time, epoch ms. */
  readonly until: number;
  /** Only runs of this workflow. */
  readonly type?: string | undefined;
  /** The last entry of the previous page. */
  readonly after?: DueEntry | undefined;
  readonly limit: number;
}

export interface RunStatistics {
  /** By type and version, ascending; at most `limit`. */
  liveVersions(tenantId: string, limit: number): Promise<readonly LiveVersion[]>;
  /** Every status that is not final, including those without runs. */
  activeRuns(tenantId: string): Promise<readonly ActiveRuns[]>;
  /** Tenants that have runs, live or ended, ascending; at most `limit`. */
  tenants(limit: number): Promise<readonly string[]>;
  /** Due runs of all tenants, earliest first. */
  due(query: DueQuery): Promise<readonly DueEntry[]>;
}
