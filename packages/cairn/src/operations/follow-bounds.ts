/** Bounds of following a run, its lines or a list of runs. Types only. */

export interface FollowBounds {
  /** Time without a report after which `quiet` is reported, ms. */
  readonly quietMs: number;
  /** Tell what there is already, and end. */
  readonly onlyNow?: boolean;
  /** When the following ends, whatever happens; epoch ms. */
  readonly until: number;
  /** Ends the following immediately. */
  readonly signal: AbortSignal;
}
