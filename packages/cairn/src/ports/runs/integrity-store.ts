/**
 * Documents of a run for checks and repairs: read as they are, damaged or not, and written only to match the journal.
 * Reader and writer are separate types, so that a check cannot write.
 *
 * Must not: judge documents, or decide which to write.
 */
import type { IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import type { EffectRecord } from '../../core/effects/effect.ts';
import type {
  FaultyPage,
  FoundCheckpoint,
  FoundDocument,
  FoundEvent,
  FoundSnapshot,
  OpenFinding,
} from '../../core/integrity/found.ts';
import type { Mailbox, MailboxAddress } from '../../core/mailbox/mailbox.ts';
import type { CheckpointRef, RunEvent } from '../../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import type { RunState, VolatileMetadata } from '../../core/run/state.ts';
import type { Version } from '../run-store.ts';

/** Part of a list, by default in the order of document ids. */
export interface ListStretch {
  /** Id of the last known document; undefined: from the beginning. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** The documents of one run as of one moment. No method throws for a damaged document; each throws if the read fails. */
export interface RunReader {
  readonly runId: string;
  /** The run document, and the store's time of the read, epoch ms. */
  snapshot(): Promise<{ readonly found: FoundSnapshot | undefined; readonly readAt: number }>;
  /** Damaged pages of the run document, which must be read first. */
  pages(): Promise<readonly FaultyPage[]>;
  events(stretch: ListStretch): Promise<readonly FoundEvent[]>;
  checkpoints(stretch: ListStretch): Promise<readonly FoundDocument<FoundCheckpoint>[]>;
  steps(stretch: ListStretch): Promise<readonly FoundDocument<StepRecord>[]>;
  /** Rows of the ledger that name this run, in the order of its calls. */
  effectsOfRun(stretch: ListStretch): Promise<readonly FoundDocument<EffectRecord>[]>;
  /** The existing rows among these ids. */
  effects(effectIds: readonly string[]): Promise<readonly FoundDocument<EffectRecord>[]>;
  /** Checkpoints of earlier runs of the lineage, in the requested order. */
  origins(refs: readonly CheckpointRef[]): Promise<readonly (FoundDocument<FoundCheckpoint> | undefined)[]>;
  mailbox(address: MailboxAddress): Promise<FoundDocument<Mailbox> | undefined>;
  record(key: string): Promise<FoundDocument<IdempotencyRecord> | undefined>;
  /** The finding about the run; absent if it cannot be read, because no decision depends on it. */
  finding(): Promise<OpenFinding | undefined>;
}

export interface IntegrityReader {
  /**
   * All reads of `work` are as of one moment, so that a running run is not mistaken for a damaged one. May call `work` again. Has
   * about a minute.
   *
   * @throws OutcomeUnknown
   */
  atOneMoment<T>(runId: string, work: (reader: RunReader) => Promise<T>): Promise<T>;
}

/** Sample of runs for regular checks. Reads only their ids; lists snapshots (J7). */
export interface RunSample {
  newest(tenantId: string, limit: number): Promise<readonly string[]>;
  /** Runs whose ids follow this one. Because ids are random, those after a random id are a random sample. */
  following(runId: string, limit: number): Promise<readonly string[]>;
  /** Starts recorded after that time (epoch ms), the oldest first. */
  startedSince(at: number, limit: number): Promise<readonly RecordedStart[]>;
  /** The existing ones among these ids. */
  existing(runIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The start that an idempotency record belongs to. */
export interface RecordedStart {
  readonly runId: string;
  readonly tenantId: string;
}

/** A document that replaces the version last seen, or is created if there was none; an undefined value deletes it. */
export interface DocumentWrite<T> {
  readonly id: string;
  readonly seen: Version | undefined;
  readonly value: T | undefined;
}

/** One commit: all or nothing, and only if no document has changed since it was read. */
export interface RepairCommit {
  readonly runId: string;
  /** Records the repair. It is created at the next place in the journal, which excludes all other writers like any event. */
  readonly event: RunEvent;
  /** The state after the event, complete. `metadata`: as found, unchanged unless it was damaged. */
  readonly snapshot: {
    readonly seen: Version | undefined;
    readonly state: RunState;
    readonly metadata: VolatileMetadata;
    readonly isMetadataDamaged: boolean;
  };
  readonly steps: readonly DocumentWrite<StepRecord>[];
  readonly checkpoints: readonly DocumentWrite<Checkpoint>[];
}

export type RepairResult =
  | { readonly kind: 'repaired'; readonly snapshotVersion: Version }
  /** A document has changed since it was read. Nothing was written. */
  | { readonly kind: 'stale' };

export interface RepairStore {
  /** @throws OutcomeUnknown */
  repair(commit: RepairCommit): Promise<RepairResult>;
  /** The output in a checkpoint; undefined if it has none, or cannot be read. @throws OutcomeUnknown */
  outputText(runId: string, seq: number): Promise<string | undefined>;
}
