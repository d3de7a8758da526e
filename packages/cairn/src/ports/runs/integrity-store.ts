/**
 * Documents of a run for checks and repairs: read as they are, damaged or not, and written only to match the journal.
 * Reader and writer are separate types, so that a check cannot write.
 *
 * Must not: judge documents, or decide what is written.
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
  /** Id of the last document that is known; undefined: from the beginning. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** The documents of one run as of one moment. No method throws for a damaged document; each throws if it cannot read. */
export interface RunReader {
  readonly runId: string;
  /** The run document, and the store's time of the reading, epoch ms. */
  snapshot(): Promise<{ readonly found: FoundSnapshot | undefined; readonly readAt: number }>;
  /** Pages of the run document, which was read before, with which something is wrong. */
  pages(): Promise<readonly FaultyPage[]>;
  events(stretch: ListStretch): Promise<readonly FoundEvent[]>;
  checkpoints(stretch: ListStretch): Promise<readonly FoundDocument<FoundCheckpoint>[]>;
  steps(stretch: ListStretch): Promise<readonly FoundDocument<StepRecord>[]>;
  /** Rows of the ledger that say they are of the run, in the order in which it made them. */
  effectsOfRun(stretch: ListStretch): Promise<readonly FoundDocument<EffectRecord>[]>;
  /** The existing rows among these ids. */
  effects(effectIds: readonly string[]): Promise<readonly FoundDocument<EffectRecord>[]>;
  /** Checkpoints of earlier runs of the lineage, in the requested order. */
  origins(refs: readonly CheckpointRef[]): Promise<readonly (FoundDocument<FoundCheckpoint> | undefined)[]>;
  mailbox(address: MailboxAddress): Promise<FoundDocument<Mailbox> | undefined>;
  record(key: string): Promise<FoundDocument<IdempotencyRecord> | undefined>;
  /** The finding that names the run; absent if it cannot be read, since it decides nothing. */
  finding(): Promise<OpenFinding | undefined>;
}

export interface IntegrityReader {
  /**
   * All reads of `work` are as of one moment, so that a moving run is not mistaken for a damaged one. May call it again; has
   * about a minute.
   *
   * @throws OutcomeUnknown
   */
  atOneMoment<T>(runId: string, work: (reader: RunReader) => Promise<T>): Promise<T>;
}

/** Sample of runs for unrequested checks. Reads only their ids; lists snapshots (J7). */
export interface RunSample {
  newest(tenantId: string, limit: number): Promise<readonly string[]>;
  /** Runs whose ids follow this one. Ids are random, so from a random one on they are as good as drawn. */
  following(runId: string, limit: number): Promise<readonly string[]>;
  /** Starts that were recorded after that time (epoch ms), the oldest first. */
  startedSince(at: number, limit: number): Promise<readonly RecordedStart[]>;
  /** The existing ones among these ids. */
  existing(runIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The start that an idempotency record is about. */
export interface RecordedStart {
  readonly runId: string;
  readonly tenantId: string;
}

/** A document that takes the place of the version seen, or of none; undefined as value: it is deleted. */
export interface DocumentWrite<T> {
  readonly id: string;
  readonly seen: Version | undefined;
  readonly value: T | undefined;
}

/** One commit: all or nothing, and nothing if any document has changed since it was read. */
export interface RepairCommit {
  readonly runId: string;
  /** Records the repair; created at its place in the journal, which fences all other writers like any event. */
  readonly event: RunEvent;
  /** The state after it, with all members. `metadata`: as found, left unchanged unless it was damaged. */
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
  /** Something is not as it was read; nothing was written. */
  | { readonly kind: 'stale' };

export interface RepairStore {
  /** @throws OutcomeUnknown */
  repair(commit: RepairCommit): Promise<RepairResult>;
  /** The output that a checkpoint carries; undefined if it carries none, or cannot be read. @throws OutcomeUnknown */
  outputText(runId: string, seq: number): Promise<string | undefined>;
}
