/**
 * Input of `check`: the documents of one run as found at one moment, damaged or not. Adapters decode what can be
 * decoded and give the reason for the rest; nothing here throws or writes.
 */
import type { IdempotencyRecord } from '../decisions/idempotency.ts';
import type { EffectRecord } from '../effects/effect.ts';
import type { FindingReason } from '../findings.ts';
import type { RunEvent } from '../run/events.ts';
import type { Checkpoint, StepRecord } from '../run/records.ts';
import type { RunState, VolatileMetadata } from '../run/state.ts';
import type { JournalContent } from './journal-reading.ts';

/** A document, by the id it is stored under. `version` is that of the store: a later write is conditional on it. */
export type FoundDocument<T> = { readonly id: string; readonly version: string } & Content<T>;

type Content<T> =
  | { readonly kind: 'sound'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** Written by a newer version of this software: nothing of the run may be touched. */
  | { readonly kind: 'newer'; readonly schemaVersion: number };

export type FoundEvent = FoundDocument<RunEvent>;

/** The run document. Readable members of a damaged one are given apart. */
export type FoundSnapshot = FoundDocument<RunState> & {
  /** The readable members of the volatile metadata. */
  readonly metadata: VolatileMetadata;
  /** Names of its unreadable members. */
  readonly metadataDamage: readonly string[];
  /** Epoch ms; undefined if absent or not a time. */
  readonly wakeAt: number | undefined;
  /** Epoch ms; undefined: the member is absent, null: it is not a time. */
  readonly askingSince: number | null | undefined;
  /** The member as found. */
  readonly foundBy: unknown;
  /** The member as found; undefined: absent. */
  readonly listed: unknown;
  /** The member as found; undefined: absent. */
  readonly waitsFor: unknown;
  readonly tenantId: string | undefined;
  /** Undefined if it is no text. */
  readonly headHash: string | undefined;
};

/** A checkpoint without its output, of which only the fingerprint is kept: all outputs of a run may be gigabytes. */
export interface FoundCheckpoint {
  readonly checkpoint: Omit<Checkpoint, 'outputText'>;
  /** SHA-256 of the output it carries; undefined if it carries none. */
  readonly outputSha?: string;
}

/** A large value to which a checkpoint points, and which cannot be read as it was written. */
export interface DamagedPayload {
  readonly id: string;
  readonly sha256: string;
  readonly reason: string;
}

/** A checkpoint of an earlier run to which one of this run refers. `sha`: hash of its output; undefined: unreadable. */
export interface FoundOrigin {
  /** Id of the checkpoint of this run. */
  readonly id: string;
  readonly sha: string | undefined;
}

/** A faulty page of the run document. `orphaned`: the document does not name it. */
export interface FaultyPage {
  readonly id: string;
  readonly problem: 'missing' | 'damaged' | 'orphaned';
}

/** The part of an event mailbox that concerns the run. */
export interface FoundMailbox {
  readonly event: string;
  readonly key: string;
  /** Waits of the run that are registered, or have taken an event that is not yet recorded. */
  readonly listed: readonly string[];
  /** The reason why the mailbox cannot be read. */
  readonly reason?: string;
}

/** A finding by a dispatch or the scan that the run makes no progress. */
export interface OpenFinding {
  readonly reason: FindingReason;
  /** The error of the store, or of the dispatch, truncated. */
  readonly message: string;
  /** Number of events of the run at that time. */
  readonly head: number;
  /** First detection, epoch ms. */
  readonly since: number;
}

export interface RunAsFound {
  readonly runId: string;
  /** The store's time of the reading, epoch ms. */
  readonly readAt: number;
  readonly journal: JournalContent;
  /** Undefined: there is no document. */
  readonly snapshot: FoundSnapshot | undefined;
  /** Its damaged pages. */
  readonly pages: readonly FaultyPage[];
  readonly checkpoints: readonly FoundDocument<FoundCheckpoint>[];
  readonly steps: readonly FoundDocument<StepRecord>[];
  /** Rows of the ledger of the run, and those that its journal names. */
  readonly effects: readonly FoundDocument<EffectRecord>[];
  /** Damaged payloads, among those that were read back. */
  readonly payloads: readonly DamagedPayload[];
  readonly origins: readonly FoundOrigin[];
  readonly mailboxes: readonly FoundMailbox[];
  /** The finding that names the run outside of its own documents. */
  readonly finding: OpenFinding | undefined;
  /** Idempotency record of the start. Undefined if the run has no key, or the record does not exist. */
  readonly record: FoundDocument<IdempotencyRecord> | undefined;
}
