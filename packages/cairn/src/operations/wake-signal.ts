/** A signal to wait for while a watch is open, at most for a time or until an abort. */
import { type Clock, pause } from '../ports/clock.ts';

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
  async wait(forMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(this.#clock, forMs, AbortSignal.any([signal, woken.signal]));
    this.#wake = () => {};
  }
}
