/**
 * Parts of a long loop: after a number of turns the loop continues in child runs, one after the other, so that the size of a run
 * is bounded. Decides the next move, and names the workflow of a part.
 *
 * Must not: know how a turn or a child is begun.
 */

/** Most turns of a loop in one run: with a pause after each, it has as many operations as a run can hold. */
export const MAX_TURNS_IN_A_RUN = 5_000;
/** Most turns of a loop with parts. With a thousand turns a part, its run has a thousand children. */
export const MAX_TURNS = 1_000_000;

export interface LoopSituation {
  readonly turn: number;
  /** Turns done before this run; undefined if this run is not a part. */
  readonly from: number | undefined;
  /** Most turns of the loop. */
  readonly max: number;
  /** Turns after which a run starts a part. */
  readonly turnsOfARun: number;
  /** True if the run has begun a part. */
  readonly hasParts: boolean;
}

/** `limit`: the loop has reached its maximum of turns. `return`: the part returns its state. */
export type LoopMove = 'turn' | 'part' | 'limit' | 'return';

/** The next step of a loop whose condition holds. */
export function loopMove({ turn, from, max, turnsOfARun, hasParts }: LoopSituation): LoopMove {
  if (from !== undefined) return turn >= max || turn - from >= turnsOfARun ? 'return' : 'turn';
  if (turn >= max) return 'limit';
  // Applies even if `max` was lowered, because turns of this run after those of a part would be counted twice.
  if (hasParts) return 'part';
  return max > MAX_TURNS_IN_A_RUN && turn >= turnsOfARun ? 'part' : 'turn';
}

/** Types of authors contain no full stop. */
const SEPARATOR = '.';

/** Type of the workflow of a loop's parts: `import-all.pages`. Such a workflow is not declared, but derived from the one with the loop. */
export function partType(type: string, loopId: string): string {
  return `${type}${SEPARATOR}${loopId}`;
}

/** The workflow with the loop, and the loop; undefined if the type is not of a part. */
export function loopOfPart(type: string): { readonly type: string; readonly loopId: string } | undefined {
  const at = type.indexOf(SEPARATOR);
  return at < 0 ? undefined : { type: type.slice(0, at), loopId: type.slice(at + 1) };
}

/** Type of the declared workflow; for a part, the workflow with its loop. */
export function declaredType(type: string): string {
  return loopOfPart(type)?.type ?? type;
}
