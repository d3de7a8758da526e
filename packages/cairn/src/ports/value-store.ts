/**
 * Values of a run outside its journal: large ones, to which a checkpoint refers, and the memos of a step body. Neither is part
 * of a commit: a value is durable before anything refers to it, and a value without a reference is deleted with the run.
 */
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import type { PayloadRef } from '../core/run/events.ts';

/** Every method throws `OutcomeUnknown` where it cannot know whether the call was applied; each may be sent again. */
export interface PayloadStore {
  /**
   * Stores the text durably under the run, which need not exist yet, and returns its reference. Addressed by content:
   * writing the same text again changes nothing. Throws `PAYLOAD_TOO_LARGE` before anything is written.
   */
  writePayload(runId: string, text: string): Promise<PayloadRef>;
  /** The text, checked against length and hash; throws with the missing or damaged part. */
  readPayload(runId: string, ref: PayloadRef): Promise<string>;
  /**
   * Removes a payload, or the rest of one. Only for a run that was never created, or that is being deleted: in a live
   * run another step with the same output may reference the same payload.
   */
  deletePayload(runId: string, ref: PayloadRef): Promise<void>;
}

/** One result that a step body memoized. */
export interface Memo {
  /** Key of the step: its id, or `id[itemKey]`. */
  readonly step: string;
  readonly revision: number;
  /** Unique within the step's revision. */
  readonly name: string;
  /** Canonical JSON, at most 256 KiB. */
  readonly text: string;
}

/** Names a memo among those of its step; lists are in the order of these. */
export function memoId(revision: number, name: string): string {
  return encodeKey(`${revision}-${name}`);
}

export interface RecordedMemo extends Memo {
  /** By the clock of the store, epoch ms. */
  readonly recordedAt: number;
}

export interface MemoStore {
  /**
   * Creates the memo under must-not-exist and returns the recorded text: that of the first writer. Throws
   * `INVALID_INPUT` for a name and `PAYLOAD_TOO_LARGE` for a text that cannot be stored.
   */
  createMemo(runId: string, memo: Memo): Promise<string>;
  /** All memos of the step's revision, texts by name. Throws if there are more than `MAX_MEMOS`. */
  readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>>;
}
