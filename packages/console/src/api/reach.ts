/**
 * Reachability and clock of the API, learned from every request.
 *
 * Must not: decide what is shown.
 */

import { LEAST_OFFSET_MS, offsetMs } from '@cairn/client';
import { Observable } from './observable.ts';

export interface Reached {
  /** Time since which the API does not answer, by this machine's clock; epoch ms. Undefined: it answers. */
  readonly lostAt: number | undefined;
  /** Offset of the API's clock from this machine's clock, ms; 0 if it is within the measuring error. */
  readonly clockOffsetMs: number;
}

export class Reach extends Observable<Reached> {
  constructor() {
    super({ lostAt: undefined, clockOffsetMs: 0 });
  }

  /** @param date from the header of the answer; times by this machine's clock, epoch ms */
  answered(date: string | null, askedAt: number, answeredAt: number): void {
    const clockOffsetMs = offsetMs(date, askedAt, answeredAt) ?? this.shown().clockOffsetMs;
    this.#take({ lostAt: undefined, clockOffsetMs });
  }

  lost(at: number): void {
    if (this.shown().lostAt === undefined) this.#take({ ...this.shown(), lostAt: at });
  }

  #take(next: Reached): void {
    const { lostAt, clockOffsetMs } = this.shown();
    const hasMoved = Math.abs(next.clockOffsetMs - clockOffsetMs) >= LEAST_OFFSET_MS;
    if (next.lostAt === lostAt && !hasMoved) return;
    this.become({ ...next, clockOffsetMs: hasMoved ? next.clockOffsetMs : clockOffsetMs });
  }
}
