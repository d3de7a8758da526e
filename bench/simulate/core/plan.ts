/** Input of a simulation: the load, the installation, and the services below it. Data only. */

export const LOCATIONS = ['regional', 'nam5'] as const;
export type Location = (typeof LOCATIONS)[number];

export interface Plan {
  /** Starts a second, of all tenants together without what one of them floods with. */
  readonly rate: number;
  /** Starts come for so long. */
  readonly forMs: number;
  /** After the last start; what has not ended then is waiting. */
  readonly restMs: number;
  readonly tenants: number;
  /** Starts a second that the first tenant adds to its share. */
  readonly flood: number;
  readonly queues: number;
  /** Number of queues used by the runs of one tenant; 0: all. */
  readonly queuesPerTenant: number;
  readonly queueConcurrent: number;
  readonly shards: number;
  readonly instances: number;
  readonly concurrency: number;
  readonly apiInstances: number;
  /** Instances there are at the begin; undefined: as many as the load needs. */
  readonly warm: number | undefined;
  readonly location: Location;
  /** The database had no traffic before, so that it bears little at first. */
  readonly isNew: boolean;
  readonly readMs: number;
  readonly commitMs: number;
  /** Sigma of the latencies; 0: all take the median. */
  readonly spread: number;
  /** Share of first tasks that are lost, for the scan to find. */
  readonly lost: number;
  readonly seed: number;
}

/** Ms, by tenants: the one that floods, and the others. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Ms for which one limit made requests wait, all together. */
export interface Held {
  readonly limit: string;
  readonly ms: number;
}

export interface Result {
  readonly started: number;
  readonly ended: number;
  readonly waiting: number;
  /** Most runs under way or waiting at a time, and those at the last start. */
  readonly backlogAtHalf: number;
  readonly backlogAtEnd: number;
  /** From the request to start until the run has ended; absent where no run did. */
  readonly run: Percentiles | undefined;
  /** From the task until the dispatch begins. */
  readonly wait: Percentiles | undefined;
  readonly waitOfFlooding: Percentiles | undefined;
  readonly waitOfOthers: Percentiles | undefined;
  readonly held: readonly Held[];
  readonly instances: number;
  readonly instanceSeconds: number;
  readonly apiSeconds: number;
  readonly refused: number;
  readonly foundByScan: number;
  /** The load is borne: what was under way did not grow in the second half. */
  readonly holds: boolean;
}

/** The name by whose hash the tenant has its queues. */
export const tenantId = (tenant: number): string => `tenant ${tenant}`;
