/**
 * Statistics over many runs: versions in use, and runs due soon. Reads snapshots, which may lag behind a running run
 * (J7); not used for decisions.
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

/** Runs of one tenant that have a status which is not an end. */
export interface ActiveRuns {
  readonly status: RunStatus;
  readonly runs: number;
}

export interface DueQuery {
  /** Only runs whose `wakeAt` is not after this, epoch ms. */
  readonly until: number;
  /** Only runs of this workflow. */
  readonly type?: string | undefined;
  /** The last entry of the page before. */
  readonly after?: DueEntry | undefined;
  readonly limit: number;
}

export interface RunStatistics {
  /** By type and version, ascending; at most `limit` of them. */
  liveVersions(tenantId: string, limit: number): Promise<readonly LiveVersion[]>;
  /** Every status that is not an end, also those of no run. */
  activeRuns(tenantId: string): Promise<readonly ActiveRuns[]>;
  /** Tenants that have runs, ended ones too, ascending; at most `limit` of them. */
  tenants(limit: number): Promise<readonly string[]>;
  /** Due runs of all tenants, earliest first. */
  due(query: DueQuery): Promise<readonly DueEntry[]>;
}
