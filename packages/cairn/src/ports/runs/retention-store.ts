/**
 * Runs as those see them who delete what has been kept long enough, and hold what must be kept longer. Documents go piece by
 * piece, each call so many at the most; the run document goes last, so that a run of which anything is left is found again.
 * Every method throws `OutcomeUnknown` where it cannot know whether the call was applied; all may be repeated.
 *
 * Must not: decide what may go; see core/retention.
 */
import type { LegalHold, Member } from '../../core/retention/lineage.ts';
import type { EndStatus } from '../../core/retention/policy.ts';
import type { Version } from '../run-store.ts';

/** Runs of one workflow that ended in one way. */
export interface Bucket {
  readonly status: EndStatus;
  readonly type: string;
}

/** A run among those of its bucket, which come in the order of their ends. */
export interface EndPosition {
  /** Epoch ms. */
  readonly completedAt: number;
  readonly runId: string;
}

export interface EndedRun extends EndPosition {
  readonly rootRunId: string;
  readonly tenantId: string;
}

export interface EndedQuery {
  readonly bucket: Bucket;
  /** Only runs that had ended by then, epoch ms. */
  readonly until: number;
  /** The last one that is known; undefined: from the beginning. */
  readonly after: EndPosition | undefined;
  readonly limit: number;
}

export interface LineageMember extends Member {
  readonly tenantId: string;
  readonly version: Version;
}

export type MarkResult = { readonly kind: 'written' } | { readonly kind: 'stale' };

export interface Cleared {
  readonly deleted: number;
  /** Deletes that were sent, where some were for documents that were not there; absent: as many as were deleted. */
  readonly spent?: number;
  readonly more: boolean;
}

/** A run under which large values lie, whether there is such a run or not. */
export interface PayloadOwner {
  readonly runId: string;
  /** When the first of them was last changed, epoch ms, by the store's time. */
  readonly writtenAt: number;
}

/** Progress of work that the next tick continues. */
export interface RetentionProgress {
  /** Opaque, kept as it was given; undefined: at the beginning. */
  readonly runs?: string | undefined;
  /** Likewise. */
  readonly payloads?: string | undefined;
  /** Lineages of which something may have been deleted, and something may be left. */
  readonly underway?: readonly string[] | undefined;
}

export interface RetentionStore {
  /** The first bucket that has runs, or the first after another; by status, then by type. */
  nextBucket(after: Bucket | undefined): Promise<Bucket | undefined>;
  ended(query: EndedQuery): Promise<readonly EndedRun[]>;
  /** The runs of a lineage, at most `limit`. Throws for one that cannot be read, `NewerSchemaError` for a newer one. */
  lineage(rootRunId: string, limit: number): Promise<readonly LineageMember[]>;
  /** Those of the runs that are there. */
  present(runIds: readonly string[]): Promise<ReadonlyMap<string, { readonly isOver: boolean }>>;

  /** Marks a run to go, which hides it from people; undefined takes the mark away. */
  mark(runId: string, seen: Version, markedAt: number | undefined): Promise<MarkResult>;
  /** Undefined: it is held no more. */
  hold(runId: string, seen: Version, hold: LegalHold | undefined): Promise<MarkResult>;

  /** Events, checkpoints, steps, memos, payloads and logged lines. */
  deleteUnder(runId: string, limit: number): Promise<Cleared>;
  /** Rows of the ledger that the run made. */
  deleteEffects(runId: string, limit: number): Promise<Cleared>;
  /** The run document, and what named the run outside of it. */
  deleteRun(runId: string, seen: Version): Promise<MarkResult>;

  /** Runs with payloads, by id, after one that is known. */
  payloadOwners(after: string | undefined, limit: number): Promise<readonly PayloadOwner[]>;
  /**
   * Payloads of a run that has neither a document nor a journal, or of an owner of effects without a run of which no row is left.
   * Does nothing to any other.
   */
  deleteOrphans(runId: string, limit: number): Promise<Cleared>;

  readProgress(): Promise<RetentionProgress>;
  saveProgress(progress: RetentionProgress): Promise<void>;
}
