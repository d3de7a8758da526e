/**
 * Runs and their journals, in terms of the domain. A commit is atomic: all of its documents are written, or none. The adapter knows
 * how values are stored, and decides nothing. Every method throws `OutcomeUnknown` if it is unknown whether the
 * call was applied, and `NewerSchemaError` for documents of a newer version.
 */

import type { Cost } from '../core/cost/cost.ts';
import type { IdempotencyRecord } from '../core/decisions/idempotency.ts';
import type { EffectWrite } from '../core/effects/effect.ts';
import type { LogUpdate } from '../core/logs/segment.ts';
import type { HeartbeatWindow } from '../core/recovery/lease-watch.ts';
import type { DueFacts } from '../core/recovery/scan-order.ts';
import type { RunEvent, StopKind } from '../core/run/events.ts';
import type { RunningStep } from '../core/run/now/running.ts';
import type { WaitsFor } from '../core/run/now/waits-for.ts';
import type { Checkpoint, StepRecord } from '../core/run/records.ts';
import type { Progress, RunState, VolatileMetadata } from '../core/run/state.ts';
import type { RunStatus } from '../core/run/status.ts';
import type { ListedMetadata, ListedState } from '../core/search/listed.ts';
import type { ListedWaits } from '../core/search/listing.ts';
import type { RunMatch } from '../core/search/match.ts';
import type { StepCounts } from '../core/search/step-counts.ts';
import type { Memo, MemoStore, PayloadStore, RecordedMemo } from './value-store.ts';

/** Version of a document as last seen. Opaque; only the store compares it. */
export type Version = string;

/** Outcome of a write that replaces a whole document if its version is still the one last seen. */
export type CompareAndSetResult =
  | { readonly kind: 'written'; readonly version: Version }
  /** Another write won: read and decide again. */
  | { readonly kind: 'stale' };

/** A run as lists show it, from its snapshot. */
export interface ListedRun {
  readonly state: ListedState;
  readonly metadata: ListedMetadata;
  /** Absent if a version of Cairn without this count wrote the snapshot. */
  readonly stepCounts?: StepCounts;
  readonly waits: ListedWaits;
  /** Absent if the run waits for nothing, or an earlier version wrote the snapshot. */
  readonly waitsFor?: WaitsFor | undefined;
  /** Time of the next scan, epoch ms; absent: none. */
  readonly wakeAt?: number | undefined;
}

/** Current state of a run: its snapshot with the tail of the journal folded over it (J7). */
export interface LoadedRun {
  readonly state: RunState;
  readonly metadata: VolatileMetadata;
  /** Head of the snapshot document itself; less than `state.head` while a dispatch is ahead of it (J4). */
  readonly snapshotHead: number;
  readonly snapshotVersion: Version;
  /** The store's own time of this read, epoch ms, for decisions about staleness. */
  readonly readAt: number;
  /** Documents billed for this read. */
  readonly reads: number;
  /** Billed writes of the commits beyond `snapshotHead`; a lower bound (`core/cost/writes.ts`). */
  readonly tailWrites: number;
}

/** An idempotency record that a start creates. `replaces` is the version of an expired record that it replaces. */
export interface StartRecord {
  readonly record: IdempotencyRecord;
  readonly replaces?: Version | undefined;
}

export interface StartCommit {
  readonly state: RunState;
  /** Data for publishing the first event, used by the first dispatch, and the billed cost of the start. */
  readonly metadata?: Pick<VolatileMetadata, 'firstEventId' | 'cost'> | undefined;
  readonly events: readonly RunEvent[];
  readonly checkpoints: readonly Checkpoint[];
  readonly records: readonly StartRecord[];
  readonly supersedes?: Supersedes | undefined;
}

/** The event by which a start supersedes another run, appended to that run's journal in the same commit. */
export interface Supersedes {
  readonly event: RunEvent<'run_superseded'>;
  /** The state of the superseded run after the event. */
  readonly snapshot: RunState;
  /** Volatile metadata of the superseded run, as read. It is not folded, and stays unchanged. */
  readonly metadata: VolatileMetadata;
  readonly seen: Version;
}

/** One commit of a run. Events and checkpoints are created, step records are set. */
export interface JournalCommit {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  readonly checkpoints: readonly Checkpoint[];
  readonly steps: readonly StepRecord[];
  /** Rows of the ledger. They are created if they do not exist, or changed if their version is the one last seen. */
  readonly effects?: readonly EffectWrite[] | undefined;
  /** The state after the last of `events`, if the snapshot is written with them. */
  readonly snapshot?: RunState;
  readonly metadata?: MetadataUpdate;
}

/** Written with a snapshot: a heartbeat at the store's own time, and the extension of the lease. */
export interface MetadataUpdate {
  /** True: `lastHeartbeatAt` becomes the store's time. */
  readonly heartbeat: boolean;
  readonly leaseExtendedTo?: number;
  /** Last reported progress of the running bodies; absent: unchanged. */
  readonly inFlight?: readonly Progress[];
  /** Running bodies; absent: unchanged. */
  readonly running?: readonly RunningStep[];
  /** Lines that bodies logged, written as a separate document; absent: none. */
  readonly logged?: LogUpdate;
  /** Set when all completion duties of the run are done. The run is not scanned again. */
  readonly dutiesMet?: true | undefined;
  /** Sequence number up to which events are published; absent: unchanged. */
  readonly publishedSeq?: number;
  /** Deadline for the next attempt to publish; absent: unchanged. */
  readonly publishDueAt?: number | undefined;
  /** Added to the stored total. */
  readonly cost?: Cost;
}

export type CommitResult =
  | {
      readonly kind: 'committed';
      readonly snapshotVersion?: Version | undefined;
      /** Version of the written ledger rows. */
      readonly effectsVersion?: Version | undefined;
    }
  /** One of the events (or, for a start, the run or a record) already exists. Nothing was applied. */
  | { readonly kind: 'exists' }
  /** A ledger row of the commit was written concurrently. Nothing was applied. */
  | { readonly kind: 'effect_moved' };

/** A snapshot write without an event (J9): flush and heartbeat of a dispatch, or the scan changing `wakeAt`. */
export interface SnapshotTouch {
  readonly runId: string;
  readonly seen: Version;
  readonly snapshot?: RunState;
  readonly metadata?: MetadataUpdate | undefined;
  /** Overrides the `wakeAt` that follows from the state. Used only to move it forward before acting. */
  readonly wakeAt?: number | undefined;
  /** For an ended run whose effects' outcomes the ledger all knows: the inbox no longer lists the run. */
  readonly asksNothing?: true;
}

export type TouchResult =
  | { readonly kind: 'touched'; readonly snapshotVersion: Version }
  /** The snapshot was written concurrently or deleted: read and decide again. */
  | { readonly kind: 'stale' };

export interface DuePlace {
  readonly runId: string;
  readonly wakeAt: number;
}

export interface DueRun extends DuePlace, DueFacts {
  readonly snapshotVersion: Version;
}

/** A run in the result of the query for silent runs. Absent members could not be read. */
export interface SilentRun {
  readonly runId: string;
  readonly lastHeartbeatAt: number;
  /** True if its snapshot has a lease. Otherwise the run is between two attempts and sends no heartbeats. */
  readonly isLeased: boolean;
  readonly type?: string | undefined;
  readonly tenantId?: string | undefined;
}

/**
 * A page of a list. With more than one item it has at most `MAX_PAGE_BYTES`; `next` continues it. Runs are sorted newest first, events
 * and checkpoints in order, steps by id.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
  /** Ids of runs of the page that cannot be decoded, so that one damaged document does not hide all others. */
  readonly unreadable?: readonly string[] | undefined;
}

export interface RunFilter {
  readonly tenantId: string;
  /**
   * Only runs with one of these. A run is also found by the status that its open waits alone would give it
   * (`core/run/now/waits-for.ts`).
   */
  readonly status?: RunStatus | readonly RunStatus[] | undefined;
  /** The status that open waits alone would give. Does not find runs that an earlier version wrote last. */
  readonly waitsFor?: WaitsFor | undefined;
  /** Only cancelled runs have one. */
  readonly stopKind?: readonly StopKind[] | undefined;
  readonly type?: string | undefined;
  readonly repoId?: string | undefined;
  readonly threadId?: string | undefined;
  /** In the form `name:value`. */
  readonly tag?: string | undefined;
  /** Created at this time or later, epoch ms. */
  readonly createdFrom?: number | undefined;
  /** Created before this time, epoch ms. */
  readonly createdBefore?: number | undefined;
  /** Only runs without a parent. Only for paged lists, whose pages may then be short; see {@link MAX_PASSED_OVER}. */
  readonly topLevel?: true;
  /** Only runs that match. Only for paged lists, like `topLevel`. */
  readonly match?: RunMatch;
  /** Only runs stored with one of these entries (core/search/match-index.ts). For paged lists and counts, without `tag`. */
  readonly among?: readonly string[];
}

/**
 * Most runs read for one page of a list without being on it: child runs of a list without them, and runs that do not match. No
 * index excludes them, so that runs of all versions are found.
 */
export const MAX_PASSED_OVER = 1_000;

export interface PageRequest {
  /** Most items; bounded by the caller. */
  readonly limit: number;
  /** `next` of the previous page. Throws `INVALID_INPUT` for an invalid text. */
  readonly cursor?: string | undefined;
}

export interface RunStore extends PayloadStore, MemoStore {
  /**
   * Creates the run, its first event and idempotency records, each only if it does not exist. Also returns `exists` if the
   * run to be superseded was written concurrently.
   */
  start(commit: StartCommit): Promise<CommitResult>;
  /**
   * With `ofTenant`, for users, a run of another tenant is undefined and takes no longer than one that does not exist.
   * The same applies to a run marked for deletion.
   */
  load(runId: string, ofTenant?: string): Promise<LoadedRun | undefined>;
  /** Events after `afterSeq` in order, at most `limit`; the caller continues if it got as many. */
  readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]>;
  commit(commit: JournalCommit): Promise<CommitResult>;
  touch(touch: SnapshotTouch): Promise<TouchResult>;
  /** Checkpoints by seq, in the requested order; throws if one is missing. */
  readCheckpoints(runId: string, seqs: readonly number[]): Promise<readonly Checkpoint[]>;
  /** The checkpoint of that event, if it has one. */
  findCheckpoint(runId: string, seq: number): Promise<Checkpoint | undefined>;

  /** Runs whose `wakeAt` is at or before `now`, earliest first, then by id; `after` continues a page. */
  dueRuns(now: number, limit: number, after?: DuePlace): Promise<readonly DueRun[]>;
  /** Running runs whose last heartbeat is in the window, longest silence first. */
  silentRuns(window: HeartbeatWindow, limit: number): Promise<readonly SilentRun[]>;

  /**
   * Lists read snapshots and may lag behind a running run (J7). Newest run first. A page has fewer runs than possible if
   * some are about to be deleted.
   */
  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>>;
  listEvents(runId: string, page: PageRequest): Promise<Page<RunEvent>>;
  listSteps(runId: string, page: PageRequest): Promise<Page<StepRecord>>;
  listCheckpoints(runId: string, page: PageRequest): Promise<Page<Checkpoint>>;
  /** Memos of one revision of a step, in the order of their encoded names. */
  listMemos(
    runId: string,
    of: Pick<Memo, 'step' | 'revision'>,
    page: PageRequest,
  ): Promise<Page<RecordedMemo>>;
}
