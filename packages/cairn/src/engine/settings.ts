/** Times and bounds of the engine. All durations in ms. The local cloud uses shorter ones (docs/commands.md). */
import { budgetOf, DRIVE_TIMEOUT_S, LONGEST_DRIVE_S, longestStepIn } from '../core/drive-time.ts';

export interface EngineSettings {
  /**
   * A worker without a heartbeat for this long is considered dead. Longer than a body may block the event loop, because the
   * redelivery of the task detects most deaths sooner (decisions/claim.ts). Short enough that a run whose task is lost too
   * continues within 90 s (core/recovery/lease-watch.ts).
   */
  readonly leaseMs: number;
  /** Longest time between two heartbeats. A lease is longer than three of these intervals. */
  readonly heartbeatMs: number;
  /** Shortest time between two coalesced snapshot writes: a document sustains about one write per second. */
  readonly flushMs: number;
  /** Length of one dispatch before it hands over; 80 % of the function's timeout. */
  readonly budgetMs: number;
  /** Time steps have to end after an abort. */
  readonly graceMs: number;
  /** The dispatch waits for a retry that is due within this time; a later one frees the instance. */
  readonly shortRetryMs: number;
  /** While steps run, time without a commit after which the dispatch checks for events of others, such as a cancel. */
  readonly pollMs: number;
  /** Time a dispatch retries to learn the outcome of one commit. */
  readonly patienceMs: number;
  readonly concurrentSteps: number;
  /** Maximum number of turns of a long loop in one run; parts do the rest (core/flow/parts.ts). */
  readonly turnsOfARun: number;
  readonly stepTimeoutMs: number;
  /** True if the log shows thrown errors. Their text may name people, and erasure does not reach logs; the journal has it. */
  readonly logsThrown: boolean;
}

export const PRODUCTION_SETTINGS: EngineSettings = {
  leaseMs: 80_000,
  heartbeatMs: 25_000,
  flushMs: 1_250,
  budgetMs: budgetOf(DRIVE_TIMEOUT_S),
  graceMs: 8_000,
  shortRetryMs: 5_000,
  pollMs: 4_000,
  patienceMs: 60_000,
  concurrentSteps: 64,
  turnsOfARun: 1_000,
  stepTimeoutMs: 60_000,
  logsThrown: false,
};

/** Longest timeout of a step whose workflow has no functions of its own. */
export const LONGEST_STEP_MS = longestStepIn(PRODUCTION_SETTINGS.budgetMs);
/** Longest step that any drive class allows, ms. */
export const LONGEST_STEP_ANYWHERE_MS = longestStepIn(budgetOf(LONGEST_DRIVE_S));

/**
 * Settings for one machine with an observer: progress is visible sooner. The heartbeat is slightly over a second, so
 * that with claim and release no snapshot is written more than ten times in ten seconds.
 */
export const LOCAL_SETTINGS: EngineSettings = {
  ...PRODUCTION_SETTINGS,
  heartbeatMs: 1_500,
  pollMs: 2_000,
  logsThrown: true,
};

/**
 * On one machine: time in ms that repetitions of a request wait for the worker that started it. Longer than any live
 * request there, except large backfills, which may be performed twice.
 */
export const LOCAL_PROCESSING_LOCK_MS = 20_000;
