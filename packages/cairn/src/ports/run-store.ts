/**
 * Runs and their journals, in words of the domain. A commit is atomic: all its documents or none. The adapter knows
 * how values are stored; it decides nothing. Every method throws `OutcomeUnknown` where it cannot know whether the
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

/** Version of a document as last seen; opaque, compared by the store. */
export type Version = string;

/** Outcome of a write that replaces a document as a whole, if it still has the version last seen. */
export type CompareAndSetResult =
  | { readonly kind: 'written'; readonly version: Version }
  /** Another was faster: read, decide again. */
  | { readonly kind: 'stale' };

/** A run as lists show it, by its snapshot. */
export interface ListedRun {
  readonly state: ListedState;
  readonly metadata: ListedMetadata;
  /** Absent: a version of Cairn that does not count has written the snapshot. */
  readonly stepCounts?: StepCounts;
  readonly waits: ListedWaits;
  /** Absent: it waits for nothing, or an earlier version has written the snapshot. */
  readonly waitsFor?: WaitsFor | undefined;
  /** Time of its next scan, epoch ms; absent: none. */
  readonly wakeAt?: number | undefined;
}

/** Current state of a run: its snapshot with the tail of the journal folded over it (J7). */
export interface LoadedRun {
  readonly state: RunState;
  readonly metadata: VolatileMetadata;
  /** Head of the snapshot document itself; less than `state.head` while a dispatch is ahead of it (J4). */
  readonly snapshotHead: number;
  readonly snapshotVersion: Version;
  /** The store's own time of this read, epoch ms: what staleness is judged by. */
  readonly readAt: number;
  /** Documents that this read is billed for. */
  readonly reads: number;
  /** Billed writes of the commits beyond `snapshotHead`, at least (`core/cost/writes.ts`). */
  readonly tailWrites: number;
}

/** An idempotency record to be made by a start; `replaces` is the version of an expired one it takes the place of. */
export interface StartRecord {
  readonly record: IdempotencyRecord;
  readonly replaces?: Version | undefined;
}

export interface StartCommit {
  readonly state: RunState;
  /** For the first dispatch, where it will publish; and what the start itself is billed. */
  readonly metadata?: Pick<VolatileMetadata, 'firstEventId' | 'cost'> | undefined;
  readonly events: readonly RunEvent[];
  readonly checkpoints: readonly Checkpoint[];
  readonly records: readonly StartRecord[];
  readonly supersedes?: Supersedes | undefined;
}

/** The end of another run that the start supersedes: appended to its journal in the same commit, or neither is. */
export interface Supersedes {
  readonly event: RunEvent<'run_superseded'>;
  /** The state of that run after the event. */
  readonly snapshot: RunState;
  /** Volatile metadata of the run, as read; it is not folded, and kept. */
  readonly metadata: VolatileMetadata;
  readonly seen: Version;
}

/** One move of a run. Events and checkpoints are created, step records are set. */
export interface JournalCommit {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  readonly checkpoints: readonly Checkpoint[];
  readonly steps: readonly StepRecord[];
  /** Rows of the ledger: created under must-not-exist, or changed under the version their writer last saw. */
  readonly effects?: readonly EffectWrite[] | undefined;
  /** The state after the last of `events`; given when the snapshot is to be written with them. */
  readonly snapshot?: RunState;
  readonly metadata?: MetadataUpdate;
}

/** Written with a snapshot: a heartbeat at the store's own time, and how far that extends the lease. */
export interface MetadataUpdate {
  /** True stamps `lastHeartbeatAt` with the store's time. */
  readonly heartbeat: boolean;
  readonly leaseExtendedTo?: number;
  /** Last reported progress of the running bodies; absent: unchanged. */
  readonly inFlight?: readonly Progress[];
  /** Running bodies; absent: unchanged. */
  readonly running?: readonly RunningStep[];
  /** Lines that bodies logged, written as a document beside the snapshot; absent: none. */
  readonly logged?: LogUpdate;
  /** Set once all completion duties of the run are done: it is not scanned again. */
  readonly dutiesMet?: true | undefined;
  /** Events up to this seq are published; absent: as it was. */
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
      /** Version of the ledger rows that it wrote. */
      readonly effectsVersion?: Version | undefined;
    }
  /** An event of these sequence numbers (or, at a start, the run or a record) exists already; nothing was applied. */
  | { readonly kind: 'exists' }
  /** A ledger row that it creates or changes was written concurrently; nothing was applied. */
  | { readonly kind: 'effect_moved' };

/** A snapshot write without an event (J9): flush and heartbeat of a dispatch, or the scan moving `wakeAt`. */
export interface SnapshotTouch {
  readonly runId: string;
  readonly seen: Version;
  readonly snapshot?: RunState;
  readonly metadata?: MetadataUpdate | undefined;
  /** Overrides the `wakeAt` that the state implies; only ever used to move it forward before acting. */
  readonly wakeAt?: number | undefined;
  /** For an ended run: the ledger knows the outcome of all its effects, and the inbox no longer lists it. */
  readonly asksNothing?: true;
}

export type TouchResult =
  | { readonly kind: 'touched'; readonly snapshotVersion: Version }
  /** The snapshot was written concurrently, or deleted: read, fold, decide again. */
  | { readonly kind: 'stale' };

export interface DuePlace {
  readonly runId: string;
  readonly wakeAt: number;
}

export interface DueRun extends DuePlace, DueFacts {
  readonly snapshotVersion: Version;
}

/** A run as the query for silent runs shows it, without its document. Absent members could not be read. */
export interface SilentRun {
  readonly runId: string;
  readonly lastHeartbeatAt: number;
  /** True if its snapshot has a lease. Otherwise it is between two attempts and sends no heartbeats. */
  readonly isLeased: boolean;
  readonly type?: string | undefined;
  readonly tenantId?: string | undefined;
}

/**
 * A page of a list, of at most `MAX_PAGE_BYTES` if it has more than one item; `next` continues it. Runs come newest first, events and
 * checkpoints in their own order, steps by id.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
  /** Ids of runs that belong on the page and cannot be decoded: one damaged document must not hide all others. */
  readonly unreadable?: readonly string[] | undefined;
}

export interface RunFilter {
  readonly tenantId: string;
  /**
   * One of these, if there are any. A run is also found by the status it would have if only its open waits were left
   * (`core/run/now/waits-for.ts`).
   */
  readonly status?: RunStatus | readonly RunStatus[] | undefined;
  /** The status by its open waits alone; not of runs that an earlier version wrote last. */
  readonly waitsFor?: WaitsFor | undefined;
  /** For cancelled runs. */
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
  /** Only runs without a parent. Of lists by pages only: a page may then be short, see {@link MAX_PASSED_OVER}. */
  readonly topLevel?: true;
  /** Only runs that match. For lists by pages only, as `topLevel`. */
  readonly match?: RunMatch;
  /** Only runs that are stored with one of these entries (core/search/match-index.ts). For lists by pages and counts, without `tag`. */
  readonly among?: readonly string[];
}

/**
 * Runs that are read for one page of a list and are not on it: child runs of a list without them, and runs that do not match. They
 * are no part of an index, so that runs of all versions are found.
 */
export const MAX_PASSED_OVER = 1_000;

export interface PageRequest {
  /** Most items; bounded by the caller. */
  readonly limit: number;
  /** `next` of the page before. Throws `INVALID_INPUT` for a text that never was one. */
  readonly cursor?: string | undefined;
}

export interface RunStore extends PayloadStore, MemoStore {
  /**
   * Creates run, first event and idempotency records, each under must-not-exist. `exists` also where another has written the
   * run that was to be superseded.
   */
  start(commit: StartCommit): Promise<CommitResult>;
  /**
   * With `ofTenant`, for users: a run of another tenant is undefined, and takes no longer than one that does not exist;
   * so is one marked for deletion.
   */
  load(runId: string, ofTenant?: string): Promise<LoadedRun | undefined>;
  /** Events after `afterSeq` in order, at most `limit` (the caller continues if it got that many). */
  readEvents(runId: string, afterSeq: number, limit: number): Promise<readonly RunEvent[]>;
  commit(commit: JournalCommit): Promise<CommitResult>;
  touch(touch: SnapshotTouch): Promise<TouchResult>;
  /** Checkpoints by seq, in the requested order; throws if one is missing. */
  readCheckpoints(runId: string, seqs: readonly number[]): Promise<readonly Checkpoint[]>;
  /** The checkpoint of that seq, if its event has one. */
  findCheckpoint(runId: string, seq: number): Promise<Checkpoint | undefined>;

  /** Runs whose `wakeAt` is not after `now`, earliest first, those of one time by id; `after` continues a page. */
  dueRuns(now: number, limit: number, after?: DuePlace): Promise<readonly DueRun[]>;
  /** Runs under way whose last heartbeat is in the window, longest silence first. */
  silentRuns(window: HeartbeatWindow, limit: number): Promise<readonly SilentRun[]>;

  /**
   * Lists read snapshots and may lag behind a driven run (J7). Newest run first. A page has fewer runs than it could where
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
