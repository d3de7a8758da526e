/**
 * Reachability and clock of the API, learned from every request.
 *
 * Must not: decide what is shown.
 */

import { LEAST_OFFSET_MS, offsetMs } from '@cairn/client';

export interface Reached {
  /** Time since which the API does not answer, by this machine's clock; epoch ms. Undefined: it answers. */
  readonly lostAt: number | undefined;
  /** Offset to add to this machine's clock for that of the API, ms; 0 within the measuring error. */
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

  /** @param date from the header of the answer; times by this machine's clock, epoch ms */
  answered(date: string | null, askedAt: number, answeredAt: number): void {
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
