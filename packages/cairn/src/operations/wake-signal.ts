/** A signal to wait for while a watch is open, at most for a time or until an abort. */
import type { Clock } from '../ports/clock.ts';

export class WakeSignal {
  readonly #clock: Clock;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the current waiting, if any. */
  notify(): void {
    this.#wake();
  }

  /** Resolves at the next `notify`, after `forMs`, or when the signal aborts. One waits at a time. */
  wait(forMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        cancel();
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      const cancel = this.#clock.timer(forMs, done);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}
