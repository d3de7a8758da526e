/**
 * The terminal-outcome reducer: how a run ends, if it does, from what is known of it. One order for all who end runs: what
 * people or policies asked for before what went wrong, and what went wrong before what was done. A halt is a cancel with
 * `stopKind: halt`; what was decided becomes an event in engine/facts/terminal.ts, and nowhere else.
 */

export interface EndFacts {
  /** Somebody, a policy or a parent has asked for the end; acknowledged, so that it must come about. */
  readonly cancelAsked: boolean;
  /** A step failed for good, or the time of the run is over. */
  readonly failed: boolean;
  /** Steps that have not ended, in the whole graph. */
  readonly unsettled: number;
}

/** Undefined: it goes on. */
export function endingOf({
  cancelAsked,
  failed,
  unsettled,
}: EndFacts): 'cancel' | 'fail' | 'complete' | undefined {
  if (cancelAsked) return 'cancel';
  if (failed) return 'fail';
  return unsettled === 0 ? 'complete' : undefined;
}
