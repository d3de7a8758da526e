/** Signal for waiting on a watch: until it rings, for a time, or until there is no more reason to wait. */
import { type Clock, pause } from '../ports/clock.ts';

export class Bell {
  readonly #clock: Clock;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the current waiting, if any. */
  ring(): void {
    this.#wake();
  }

  /** Resolves when it rings, after `forMs`, or when the signal aborts. One waits at a time. */
  async wait(forMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(this.#clock, forMs, AbortSignal.any([signal, woken.signal]));
    this.#wake = () => {};
  }
}
