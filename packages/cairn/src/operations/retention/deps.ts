/** Dependencies and bounds of retention. Types and constants only. */
import type { RetentionOf } from '../../core/retention/policy.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { ErasureStore } from '../../ports/runs/erasure-store.ts';
import type { RetentionStore } from '../../ports/runs/retention-store.ts';
import type { RuntimeConfigReader } from '../../ports/runtime-config.ts';

/** To see what becomes of runs. */
export interface LookDeps {
  readonly retention: RetentionStore;
  readonly retentionOf: RetentionOf;
  readonly clock: Clock;
  /** Time for which a marked run is left alone, ms. Default: what functions of 540 s need. */
  readonly graceMs?: number;
}

/** To mark and delete lineages that somebody has decided about. */
export interface CarryDeps extends LookDeps {
  readonly log: Log;
}

/** To delete what somebody asked to have erased. */
export interface ErasingDeps extends CarryDeps {
  readonly erasures: ErasureStore;
  readonly store: Pick<RunStore, 'load' | 'readEvents'>;
}

/** To delete what has been kept long enough, and what is to be erased. */
export interface SweepDeps extends ErasingDeps {
  readonly runtime: RuntimeConfigReader;
}

/**
 * Runs of a lineage that are looked at: at about a kilobyte each, what an answer of the store bears. A lineage with more of
 * them is kept, and the log says so.
 */
export const MAX_MEMBERS = 2_000;
/** Runs that ended, read at once: a tick that is cut off looks at so many again. */
export const PAGE = 50;
/** Lineages under way at once: each waits for one answer of the store after the other. */
export const CONCURRENCY = 8;
/** Documents deleted in one commit: Firestore takes 500, and its index entries count as well. */
export const DELETES_A_COMMIT = 250;

/** Limits of one tick; the next one continues. */
export interface Bounds {
  /** Documents deleted, but for the run documents of the lineages under way. */
  readonly documents: number;
  /** Runs looked at. */
  readonly runs: number;
  /** Runs with payloads looked at. */
  readonly owners: number;
  /** Ms. */
  readonly forMs: number;
}

/**
 * A tick every half hour (index.ts) that deletes so much is about a million documents a day, at a twentieth of what a
 * database bears; its time leaves the function two minutes for what is under way.
 */
export const TICK: Bounds = { documents: 20_000, runs: 5_000, owners: 200, forMs: 420_000 };
