/**
 * Counts every call that leaves a process (a port, or a timer that fires) over a whole performance, and says at which of
 * them something goes wrong. The count is the address of a crash point, so it must come out the same every time.
 *
 * Must not: carry out what goes wrong; that is the process's business.
 */

/**
 * `before`: the process dies, the call never left. `after`: it was applied, the process dies before it hears. `unanswered`:
 * it was applied, and the process is told that nobody knows. `terminate`: it goes through, and the process is asked to end.
 */
export const MODES = ['before', 'after', 'unanswered', 'terminate'] as const;
export type Mode = (typeof MODES)[number];

export interface Disturbance {
  /** Number of the call, from 0. */
  readonly call: number;
  readonly mode: Mode;
}

export const TIMER = 'timer';

export class Calls {
  /** What was called, in order. */
  readonly made: string[] = [];
  readonly #planned: Map<number, Mode>;

  constructor(planned: readonly Disturbance[]) {
    this.#planned = new Map(planned.map(({ call, mode }) => [call, mode]));
  }

  /** Notes one more call; what is to go wrong with it, if anything is. */
  note(label: string): Mode | undefined {
    this.made.push(label);
    return this.#planned.get(this.made.length - 1);
  }
}
