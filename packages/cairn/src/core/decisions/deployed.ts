/** What decisions over a run ask of the plan it is pinned to. Said by engine/deployed.ts; nothing of it is in the journal. */

export interface Deployed {
  /** False if the plan version the run is pinned to is not deployed. */
  readonly available: boolean;
  /** Whether a step may safely run again; only asked while `available`. */
  isIdempotent(stepKey: string): boolean;
  /** Whether it says how to undo what has this key; of a plan that is not deployed nothing can be undone. */
  isCompensable(stepKey: string): boolean;
  /** What becomes of a step that must not run twice and was caught mid-flight. */
  readonly onDoubt: 'fail' | 'ask';
}
