/**
 * Runs for retention: deletes those past their retention, and keeps those under a hold. Documents are deleted in pieces, each
 * call a limited number; the run document is last, so that an incomplete run is found again. Every method throws
 * `OutcomeUnknown` where it cannot know whether the call was applied; all may be repeated.
 *
 * Must not: decide what may be deleted; see core/retention.
 */
import type { LegalHold, Member } from '../../core/retention/lineage.ts';
import type { EndStatus } from '../../core/retention/policy.ts';
import type { Version } from '../run-store.ts';

/** Runs of one workflow that ended in one way. */
export interface Bucket {
  readonly status: EndStatus;
  readonly type: string;
}

/** Position of a run in its bucket, which is ordered by the ends of its runs. */
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
  /** The last one already read; undefined: from the beginning. */
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
  /** Number of deletes sent, if some documents did not exist; absent: equal to the number deleted. */
  readonly spent?: number;
  readonly more: boolean;
}

/** A run id under which large values are stored, with or without a run. */
export interface PayloadOwner {
  readonly runId: string;
  /** When the first of them was last changed, epoch ms, by the store's time. */
  readonly writtenAt: number;
}

/** Progress of work that the next tick continues. */
export interface RetentionProgress {
  /** Opaque, stored as given; undefined: at the beginning. */
  readonly runs?: string | undefined;
  /** Likewise. */
  readonly payloads?: string | undefined;
  /** Lineages of which something may have been deleted, and something may be left. */
  readonly underway?: readonly string[] | undefined;
  /** Id of the erasure that was continued last; undefined: at the beginning. */
  readonly erasure?: string | undefined;
}

export interface RetentionStore {
  /** The first bucket that has runs, or the first after another; by status, then by type. */
  nextBucket(after: Bucket | undefined): Promise<Bucket | undefined>;
  ended(query: EndedQuery): Promise<readonly EndedRun[]>;
  /** The runs of a lineage, at most `limit`. Throws for one that cannot be read, `NewerSchemaError` for a newer one. */
  lineage(rootRunId: string, limit: number): Promise<readonly LineageMember[]>;
  /** The existing ones among these runs. */
  present(runIds: readonly string[]): Promise<ReadonlyMap<string, { readonly isOver: boolean }>>;

  /** Marks a run for deletion, which hides it from people; undefined removes the mark. */
  mark(runId: string, seen: Version, markedAt: number | undefined): Promise<MarkResult>;
  /** Undefined: the hold is removed. */
  hold(runId: string, seen: Version, hold: LegalHold | undefined): Promise<MarkResult>;

  /** Events, checkpoints, steps, memos, payloads and logged lines. */
  deleteUnder(runId: string, limit: number): Promise<Cleared>;
  /** Rows of the ledger that the run made. */
  deleteEffects(runId: string, limit: number): Promise<Cleared>;
  /** Deletes the run document, and the documents outside the run that name it. */
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
