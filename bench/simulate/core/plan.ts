/** Input of a simulation: the load, the installation, and the services below it. Data only. */

export const LOCATIONS = ['regional', 'nam5'] as const;
export type Location = (typeof LOCATIONS)[number];

export interface Plan {
  /** Starts per second of all tenants together, without the flood. */
  readonly rate: number;
  /** Time during which starts arrive. */
  readonly forMs: number;
  /** Time after the last start. Runs that have not ended by then count as waiting. */
  readonly restMs: number;
  readonly tenants: number;
  /** Additional starts per second of the first tenant. */
  readonly flood: number;
  readonly queues: number;
  /** Number of queues used by the runs of one tenant; 0: all. */
  readonly queuesPerTenant: number;
  readonly queueConcurrent: number;
  readonly shards: number;
  readonly instances: number;
  readonly concurrency: number;
  readonly apiInstances: number;
  /** Number of instances at the start; undefined: as many as the load needs. */
  readonly warm: number | undefined;
  readonly location: Location;
  /** True if the database had no traffic before, so that its limits are low at first. */
  readonly isNew: boolean;
  readonly readMs: number;
  readonly commitMs: number;
  /** Sigma of the latencies; 0: all are the median. */
  readonly spread: number;
  /** Share of first tasks that are lost, for the scan to find. */
  readonly lost: number;
  readonly seed: number;
}

/** Percentiles, ms. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Total wait time of requests because of one limit, ms. */
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
  /** From the start request to the end of the run; absent if no run ended. */
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
  /** True if the load is sustained: the backlog did not grow in the second half. */
  readonly holds: boolean;
}

/** Name whose hash selects the queues of the tenant. */
export const tenantId = (tenant: number): string => `tenant ${tenant}`;
