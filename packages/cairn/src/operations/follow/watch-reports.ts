/** Common parts of following a run, its lines or a list of runs: time limits, and the reports of the watch. */
import type { CancelTimer, Clock } from '../../ports/clock.ts';

export interface FollowBounds {
  /** Time without a report after which `quiet` is reported, ms. */
  readonly quietMs: number;
  /** True: report only the current state, and end. */
  readonly onlyNow?: boolean;
  /** Latest end of the following, epoch ms. */
  readonly until: number;
  /** Ends the following immediately. */
  readonly signal: AbortSignal;
}

/** Holds the newest report of a watch until its one reader consumes it. */
export class WatchReports<R> {
  readonly #clock: Clock;
  #waiting: R | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the waiting report, if any. */
  put(report: R): void {
    this.#waiting = report;
    this.#wake();
  }

  /** The report that is not consumed yet. */
  get waiting(): R | undefined {
    return this.#waiting;
  }

  /** For the `onError` of a watch. */
  readonly fail = (error: unknown): void => {
    this.#failure = { error };
    this.#wake();
  };

  /**
   * Undefined if no report came within `forMs`, or the signal aborted.
   *
   * @throws the error that ended the watch
   */
  async next(forMs: number, signal: AbortSignal): Promise<R | undefined> {
    if (this.#waiting === undefined && !this.#failure) await this.#wait(forMs, signal);
    const report = this.#waiting;
    this.#waiting = undefined;
    if (report === undefined && this.#failure) throw this.#failure.error;
    return report;
  }

  #wait(forMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        cancel();
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      const cancel: CancelTimer = this.#clock.timer(forMs, done);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}
