/**
 * Whether the API answers, and what time it has: learned from whatever is asked of it anyway. Knows nothing of what was asked.
 *
 * Must not: decide what is shown of it.
 */

import { LEAST_OFFSET_MS, offsetMs } from '@cairn/client';

export interface Reached {
  /** Since when nothing was answered, by this machine's clock; epoch ms. Undefined: it answers. */
  readonly lostAt: number | undefined;
  /** To be added to this machine's clock for that of the API, ms; 0 where they agree as far as can be told. */
  readonly clockOffsetMs: number;
}

export class Reach {
  readonly #listeners = new Set<() => void>();
  #now: Reached = { lostAt: undefined, clockOffsetMs: 0 };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly shown = (): Reached => this.#now;

  /** @param date of the answer, as its header tells it; times by this machine's clock, epoch ms */
  heard(date: string | null, askedAt: number, answeredAt: number): void {
    const clockOffsetMs = offsetMs(date, askedAt, answeredAt) ?? this.#now.clockOffsetMs;
    this.#become({ lostAt: undefined, clockOffsetMs });
  }

  lost(at: number): void {
    if (this.#now.lostAt === undefined) this.#become({ ...this.#now, lostAt: at });
  }

  #become(next: Reached): void {
    const { lostAt, clockOffsetMs } = this.#now;
    const hasMoved = Math.abs(next.clockOffsetMs - clockOffsetMs) >= LEAST_OFFSET_MS;
    if (next.lostAt === lostAt && !hasMoved) return;
    this.#now = { ...next, clockOffsetMs: hasMoved ? next.clockOffsetMs : clockOffsetMs };
    for (const listener of this.#listeners) listener();
  }
}
