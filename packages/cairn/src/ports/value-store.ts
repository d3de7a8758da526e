/**
 * Values of a run outside its journal: large values that checkpoints reference, and the memos of step bodies. Neither is part
 * of a commit: a value is durable before anything refers to it, and one without a reference is deleted with the run.
 */
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import type { PayloadRef } from '../core/run/events.ts';

/** Every method throws `OutcomeUnknown` if it is unknown whether the call was applied; each may be repeated. */
export interface PayloadStore {
  /**
   * Stores the text durably under the run, which need not exist yet, and returns its reference. Addressed by content, so
   * writing the same text again changes nothing. Throws `PAYLOAD_TOO_LARGE` before anything is written.
   */
  writePayload(runId: string, text: string): Promise<PayloadRef>;
  /** Returns the text, verified by length and hash. Throws an error with the missing or damaged part. */
  readPayload(runId: string, ref: PayloadRef): Promise<string>;
  /**
   * Deletes a payload, or the rest of one. Only for a run that was never created or is being deleted: in a live
   * run another step with the same output may reference the same payload.
   */
  deletePayload(runId: string, ref: PayloadRef): Promise<void>;
}

/** A result that a step body memoized. */
export interface Memo {
  /** Key of the step: its id, or `id[itemKey]`. */
  readonly step: string;
  readonly revision: number;
  /** Unique within the step's revision. */
  readonly name: string;
  /** Canonical JSON, at most 256 KiB. */
  readonly text: string;
}

/** Identifies a memo of a step. Lists are sorted by it. */
export function memoId(revision: number, name: string): string {
  return encodeKey(`${revision}-${name}`);
}

export interface RecordedMemo extends Memo {
  /** By the clock of the store, epoch ms. */
  readonly recordedAt: number;
}

export interface MemoStore {
  /**
   * Creates the memo if it does not exist, and returns the recorded text: that of the first writer. Throws
   * `INVALID_INPUT` for an invalid name and `PAYLOAD_TOO_LARGE` for a too long text.
   */
  createMemo(runId: string, memo: Memo): Promise<string>;
  /** All memos of the step's revision: texts by name. Throws if there are more than `MAX_MEMOS`. */
  readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>>;
}
