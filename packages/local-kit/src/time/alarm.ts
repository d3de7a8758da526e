/** A single timer of a clock for the earliest of many due times. */
import type { Cancel, ServerClock } from './clock.ts';

export class Alarm {
  readonly #clock: ServerClock;
  readonly #wake: () => void;
  #timer: { readonly atMs: number; readonly cancel: Cancel } | undefined;

  constructor(clock: ServerClock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Replaces the timer; undefined removes it. */
  set(atMs: number | undefined): void {
    if (this.#timer?.atMs === atMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (atMs === undefined) return;
    const cancel = this.#clock.at(atMs, () => {
      this.#timer = undefined;
      this.#wake();
    });
    this.#timer = { atMs, cancel };
  }
}
