/** A clock that only a test advances, with the timers of a simulated installation. */
import type { CancelTimer, Clock } from '../../ports/clock.ts';

export class VirtualClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  #now: number;

  constructor(startAt = Date.UTC(2026, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  timer(delayMs: number, fire: () => void): CancelTimer {
    const timer = { at: this.#now + Math.max(0, delayMs), fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** When the next timer fires, epoch ms. */
  get nextAt(): number | undefined {
    return this.#timers.size === 0 ? undefined : Math.min(...[...this.#timers].map((timer) => timer.at));
  }

  /** Moves time to the next timer, if that is not after `limit`, and fires the due timers. */
  fireNext(limit = Number.POSITIVE_INFINITY): boolean {
    const at = this.nextAt;
    if (at === undefined || at > limit) return false;
    this.#now = Math.max(this.#now, at);
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.fire();
    }
    return true;
  }

  /** Moves time without firing timers, as for a process that was stopped. */
  jump(ms: number): void {
    this.#now += ms;
  }
}

/** Lets every promise that can settle do so. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
