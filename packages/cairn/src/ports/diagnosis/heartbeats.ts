/**
 * Heartbeats of the scheduled functions: one small document in which each records its last run and result, so that the
 * API shows that Cloud Scheduler calls them. Not used for decisions.
 */

/** The functions that note their runs, by the names they are deployed under. */
export const SCHEDULED_FUNCTIONS = ['recoverRuns', 'fireSchedules', 'checkRuns', 'deleteExpired'] as const;
export type ScheduledFunction = (typeof SCHEDULED_FUNCTIONS)[number];

export interface Heartbeat {
  /** When it ended, epoch ms. */
  readonly at: number;
  readonly tookMs: number;
  /** `off`: the kill switch is on, and it did nothing. */
  readonly outcome: 'done' | 'off' | 'failed';
  /** The reason of the failure, cut to {@link MAX_HEARTBEAT_ERROR_CHARS}. */
  readonly error?: string | undefined;
}

/** The document is read as a whole, so errors are short; the log has the full error. */
export const MAX_HEARTBEAT_ERROR_CHARS = 300;

/** Result of the hourly check of a sample of runs. */
export interface SampleFound {
  readonly at: number;
  readonly checked: number;
  /** Runs with each problem, by its code. */
  readonly problems: Readonly<Record<string, number>>;
}

export type Heartbeats = { readonly [Name in ScheduledFunction]?: Heartbeat } & {
  readonly found?: SampleFound | undefined;
  /** By the name of each installation that keeps its runs here: when its functions last ran, epoch ms. */
  readonly installations?: Readonly<Record<string, number>> | undefined;
};

/** Further facts that a function reports when it ends. */
export interface EndReport {
  readonly found?: SampleFound | undefined;
  /** The installation that it belongs to, by a name that is unique in the project. */
  readonly installation?: string;
}

export interface StoredHeartbeats {
  readonly latest: Heartbeats;
  /** When the first of them was noted, by the store's clock, epoch ms; absent: none ever was. */
  readonly since?: number;
  /** The store's own time of this answer, epoch ms. */
  readonly readAt: number;
}

/** Both throw `OutcomeUnknown` where it cannot be known whether the call was applied. */
export interface HeartbeatStore {
  /** Replaces the last heartbeat of the function, and the last sample if one is given; installations are kept beside each other. */
  record(name: ScheduledFunction, heartbeat: Heartbeat, report?: EndReport): Promise<void>;
  read(): Promise<StoredHeartbeats>;
}
