/** Time limits of the functions that drive runs, and the part of them that steps get. Pure. */

/** The timeout of a function that does not set one. */
export const DRIVE_TIMEOUT_S = 540;
/** A dispatch needs time before its first step and after its last one. */
export const SHORTEST_DRIVE_S = 60;
/** Cloud Tasks waits at most this long for an answer. */
export const LONGEST_DRIVE_S = 1_800;

/** Maximum of the time that a dispatch reserves for steps to end and for the hand-over of the run. */
const HAND_OVER_MS = 108_000;
/** Time for the work before the first step: the claim, and outputs of earlier steps. */
const BEFORE_STEPS_MS = 32_000;

/** Time until a dispatch hands its run over, ms: four fifths of the timeout of its function, or all but {@link HAND_OVER_MS} of a long one. */
export function budgetOf(timeoutS: number): number {
  return Math.max(timeoutS * 800, timeoutS * 1_000 - HAND_OVER_MS);
}

/**
 * Longest timeout of a step in dispatches of that budget, ms: a longer one could exceed the remaining time of every dispatch and
 * be handed over forever instead of timing out.
 */
export function longestStepIn(budgetMs: number): number {
  return budgetMs - BEFORE_STEPS_MS;
}
