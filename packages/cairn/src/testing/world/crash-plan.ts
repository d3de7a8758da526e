/**
 * Counts every call that leaves a process, and every start and end of a body, and decides at which of them the process dies.
 * The count is the address of a crash point, so the same scenario must make the same calls each time.
 */

/** `before`: the call is never sent. `after`: it is applied, and the process dies before it gets the response. */
export type Moment = 'before' | 'after';

export interface CrashPoint {
  /** Number of the call, from 0. */
  readonly call: number;
  readonly moment: Moment;
}

export class CrashPlan {
  /** Calls in order, such as `store.append` or `body ship`. */
  readonly made: string[] = [];
  readonly #point: CrashPoint | undefined;

  constructor(point?: CrashPoint) {
    this.#point = point;
  }

  /** Counts one more call, and returns the moment at which the process dies there, if it does. */
  note(label: string): Moment | undefined {
    this.made.push(label);
    return this.#point?.call === this.made.length - 1 ? this.#point.moment : undefined;
  }
}
