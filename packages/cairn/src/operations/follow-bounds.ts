/** Bounds of following a run, its lines or a list of runs. Types only. */

export interface FollowBounds {
  /** Time without a report after which `quiet` is reported, ms. */
  readonly quietMs: number;
  /** Report only the current state, and end. */
  readonly onlyNow?: boolean;
  /** Latest end of the following, epoch ms. */
  readonly until: number;
  /** Ends the following immediately. */
  readonly signal: AbortSignal;
}
