/**
 * Runs for retention: deletes those past their retention period, and keeps those under a hold. Each call deletes a limited
 * number of documents. The run document is last, so that an incomplete run is found again. Every method throws
 * `OutcomeUnknown` if it is unknown whether the call was applied; all may be repeated.
 *
 * Must not: decide what may be deleted; see core/retention.
 */
import type { LegalHold, Member } from '../../core/retention/lineage.ts';
import type { EndStatus } from '../../core/retention/policy.ts';
import type { Version } from '../run-store.ts';

/** Runs of one workflow with the same final status. */
export interface Bucket {
  readonly status: EndStatus;
  readonly type: string;
}

/** Position of a run in its bucket, which is sorted by the end of runs. */
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
  /** Only runs that ended at or before this time, epoch ms. */
  readonly until: number;
  /** The last run read; undefined: from the beginning. */
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

/** A run id with stored large values. The run may not exist. */
export interface PayloadOwner {
  readonly runId: string;
  /** Time at which the first of the values was last changed, by the store's clock, epoch ms. */
  readonly writtenAt: number;
}

/** Progress of work that the next tick continues. */
export interface RetentionProgress {
  /** Opaque, stored unchanged; undefined: at the beginning. */
  readonly runs?: string | undefined;
  /** Opaque, stored unchanged; undefined: at the beginning. */
  readonly payloads?: string | undefined;
  /** Lineages that may be partly deleted. */
  readonly underway?: readonly string[] | undefined;
  /** Id of the last continued erasure; undefined: at the beginning. */
  readonly erasure?: string | undefined;
}

export interface RetentionStore {
  /** The first bucket with runs, or the next one after `after`; by status, then by type. */
  nextBucket(after: Bucket | undefined): Promise<Bucket | undefined>;
  ended(query: EndedQuery): Promise<readonly EndedRun[]>;
  /** The runs of a lineage, at most `limit`. Throws if one cannot be read, `NewerSchemaError` if a newer version wrote it. */
  lineage(rootRunId: string, limit: number): Promise<readonly LineageMember[]>;
  /** The existing ones among these runs. */
  present(runIds: readonly string[]): Promise<ReadonlyMap<string, { readonly isOver: boolean }>>;

  /** Marks a run for deletion, which hides it from people; undefined removes the mark. */
  mark(runId: string, seen: Version, markedAt: number | undefined): Promise<MarkResult>;
  /** Undefined removes the hold. */
  hold(runId: string, seen: Version, hold: LegalHold | undefined): Promise<MarkResult>;

  /** Deletes events, checkpoints, steps, memos, payloads and logged lines. */
  deleteUnder(runId: string, limit: number): Promise<Cleared>;
  /** Deletes the rows of the ledger that the run made. */
  deleteEffects(runId: string, limit: number): Promise<Cleared>;
  /** Deletes the run document, and the documents outside the run that name it. */
  deleteRun(runId: string, seen: Version): Promise<MarkResult>;

  /** Runs with payloads, by id, after the given one. */
  payloadOwners(after: string | undefined, limit: number): Promise<readonly PayloadOwner[]>;
  /**
   * Deletes payloads of a run that has neither a document nor a journal, or of an owner of effects without a run that has no rows.
   * Does nothing for all others.
   */
  deleteOrphans(runId: string, limit: number): Promise<Cleared>;

  readProgress(): Promise<RetentionProgress>;
  saveProgress(progress: RetentionProgress): Promise<void>;
}
