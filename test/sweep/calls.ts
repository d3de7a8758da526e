/**
 * Counts every call that leaves a process (a port, or a timer that fires) over a whole performance, and says at which of
 * them something goes wrong. The count is the address of a crash point, so it must come out the same every time.
 *
 * Must not: carry out what goes wrong; that is the process's business.
 */

/**
 * `before`: the process dies, the call never left. `after`: it was applied, the process dies before it hears. `unanswered`:
 * it was applied, and the process is told that nobody knows. `terminate`: it goes through, and the process is asked to end.
 *
 * In the last two the queue gives up the dispatches of the process and delivers their tasks again, while the process lives
 * and goes on as a zombie. `redelivered`: the call goes through, and both go on at once. `stalled`: the call leaves only
 * when the second dispatch is at work.
 */
export const MODES = ['before', 'after', 'unanswered', 'terminate', 'redelivered', 'stalled'] as const;
export type Mode = (typeof MODES)[number];

/** Modes in which the first dispatch lives on beside the second. */
export function isOverlap(mode: Mode | undefined): mode is 'redelivered' | 'stalled' {
  return mode === 'redelivered' || mode === 'stalled';
}

export interface Disturbance {
  /** Number of the call, from 0. */
  readonly call: number;
  readonly mode: Mode;
}

export const TIMER = 'timer';

export class Calls {
  /** Calls, in order. */
  readonly made: string[] = [];
  /** Numbers of the calls made while the process had a task to be delivered again. */
  readonly duringDispatch = new Set<number>();
  readonly #planned: Map<number, Mode>;
  readonly #isDispatching: () => boolean;

  constructor(planned: readonly Disturbance[], isDispatching = () => false) {
    this.#planned = new Map(planned.map(({ call, mode }) => [call, mode]));
    this.#isDispatching = isDispatching;
  }

  /** Notes one more call; what is to go wrong with it, if anything is. */
  note(label: string): Mode | undefined {
    if (this.#isDispatching()) this.duringDispatch.add(this.made.length);
    this.made.push(label);
    return this.#planned.get(this.made.length - 1);
  }
}
