/**
 * Heartbeats of the scheduled functions: one small document in which each records its last run and result. The API uses it to
 * show that Cloud Scheduler calls them. No decision depends on it.
 */

/** The functions that record heartbeats, by their deployed names. */
export const SCHEDULED_FUNCTIONS = ['recoverRuns', 'fireSchedules', 'checkRuns', 'deleteExpired'] as const;
export type ScheduledFunction = (typeof SCHEDULED_FUNCTIONS)[number];

export interface Heartbeat {
  /** End of the run of the function, epoch ms. */
  readonly at: number;
  readonly tookMs: number;
  /** `off`: the function did nothing because of the kill switch. */
  readonly outcome: 'done' | 'off' | 'failed';
  /** Reason of the failure, truncated to {@link MAX_HEARTBEAT_ERROR_CHARS}. */
  readonly error?: string | undefined;
}

/** Short, because the document is read as a whole. The log has the full error. */
export const MAX_HEARTBEAT_ERROR_CHARS = 300;

/** Result of the hourly check of a sample of runs. */
export interface SampleFound {
  readonly at: number;
  readonly checked: number;
  /** Number of runs by problem code. */
  readonly problems: Readonly<Record<string, number>>;
}

export type Heartbeats = { readonly [Name in ScheduledFunction]?: Heartbeat } & {
  readonly found?: SampleFound | undefined;
  /** Last run of the functions of each installation that stores its runs here, by its name; epoch ms. */
  readonly installations?: Readonly<Record<string, number>> | undefined;
};

/** Further data that a function reports when it ends. */
export interface EndReport {
  readonly found?: SampleFound | undefined;
  /** The installation of the function, by a name that is unique in the project. */
  readonly installation?: string;
}

export interface StoredHeartbeats {
  readonly latest: Heartbeats;
  /** Time of the first heartbeat, by the store's clock, epoch ms; absent if there is none. */
  readonly since?: number;
  /** The store's own time of this response, epoch ms. */
  readonly readAt: number;
}

/** Both methods throw `OutcomeUnknown` if it is unknown whether the call was applied. */
export interface HeartbeatStore {
  /** Replaces the last heartbeat of the function, and the last sample if one is given. Other installations are kept. */
  record(name: ScheduledFunction, heartbeat: Heartbeat, report?: EndReport): Promise<void>;
  read(): Promise<StoredHeartbeats>;
}
