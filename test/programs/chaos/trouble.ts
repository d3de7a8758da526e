/** Amounts of faults in a trial, drawn once each. */
import type { Draw } from '../data/draw.ts';

export interface Trouble {
  readonly workers: number;
  /** Share of calls whose answer is lost. */
  readonly lossRate: number;
  /** Share of calls whose answer is delayed; absent: none. */
  readonly lateRate?: number;
  readonly kills: number;
  readonly terminations: number;
  /** Number of stalls longer than a lease. */
  readonly stalls: number;
  /** Number of tasks delivered early. */
  readonly early: number;
  readonly cancels: boolean;
  readonly pauses: boolean;
}

/** Maximum difference of a process's clock from the store's clock. */
export const MAX_SKEW_MS = 120_000;

/** All processes may stall for a little longer than this. A running body must not time out then (60 s). */
export const LEASE_MS = 30_000;

/** Share of tasks that are delivered twice, or never. */
export const REPEATED = 0.15;
export const DROPPED = 0.08;

export function drawTrouble(draw: Draw): Trouble {
  return {
    workers: draw.between(1, 3),
    lossRate: 0.1,
    kills: draw.between(0, 3),
    terminations: draw.between(0, 1),
    stalls: draw.chance(0.3) ? 1 : 0,
    early: draw.between(0, 4),
    cancels: draw.chance(0.08),
    pauses: draw.chance(0.1),
  };
}
