/**
 * Counts every call that leaves a process (a port, or a timer that fires) over a whole performance, and decides which of them
 * fails, and how. The count is the address of a crash point, so it must be the same in every performance.
 *
 * Must not: carry out the failure (process.ts).
 */

/**
 * `before`: the process dies before the call. `after`: the call is applied, and the process dies before the answer.
 * `unanswered`: the call is applied, and the process gets an unknown outcome. `terminate`: the call succeeds, and the process
 * is asked to end.
 *
 * In the last two the queue gives up the dispatches of the process and delivers their tasks again, while the process continues
 * as a zombie. `redelivered`: the call succeeds, and both dispatches continue at once. `stalled`: the call is sent only when
 * the second dispatch is at work.
 */
export const MODES = ['before', 'after', 'unanswered', 'terminate', 'redelivered', 'stalled'] as const;
export type Mode = (typeof MODES)[number];

/** Modes in which the first dispatch continues beside the second. */
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

  /** Counts one more call. Returns how it fails, if it does. */
  note(label: string): Mode | undefined {
    if (this.#isDispatching()) this.duringDispatch.add(this.made.length);
    this.made.push(label);
    return this.#planned.get(this.made.length - 1);
  }
}
