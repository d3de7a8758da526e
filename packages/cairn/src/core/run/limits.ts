/** Sizes of values, in bytes of canonical JSON text (DESIGN section 3). */

/** What a snapshot carries inline; above it the snapshot points to a checkpoint. */
export const SNAPSHOT_VALUE_BYTES = 16 * 1024;
/** What a checkpoint carries inline; above it the checkpoint points to a payload. Also the most a memo can have. */
export const CHECKPOINT_VALUE_BYTES = 256 * 1024;
/** The largest input, output or result a run can have: what a worker can hold several of, and one HTTP request carries. */
export const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/**
 * All open waits of a run together, as JSON: they stand in the snapshot, whose document ends at 1 MiB. Room for a thousand
 * children, or for thirty long questions.
 */
export const MAX_OPEN_WAITS_BYTES = 512 * 1024;
/** Memos of one revision of a step: what a body that is tried again reads before it begins. */
export const MAX_MEMOS = 1_000;
/** UTF-8 bytes of a memo's name: each takes up to three in a document id, which ends at 1,500. */
export const MAX_MEMO_NAME_BYTES = 480;
