/** Limits of a run. Sizes of values are bytes of canonical JSON text. */

/** Largest value inline in a snapshot; larger ones are in a checkpoint. */
export const SNAPSHOT_VALUE_BYTES = 16 * 1024;
/** Largest value inline in a checkpoint; larger ones are payloads. Also the largest memo. */
export const CHECKPOINT_VALUE_BYTES = 256 * 1024;
/** The largest input, output or result a run can have: what a worker can hold several of, and one HTTP request carries. */
export const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/**
 * Most bytes of all open waits of a run, as JSON: they are in the snapshot, whose document is limited to 1 MiB. Room
 * for a thousand children, or for thirty long questions.
 */
export const MAX_OPEN_WAITS_BYTES = 512 * 1024;
/**
 * Most external registrations (event waits, unreported children) and most open effects of one run. Each list is in
 * pages of its snapshot and read with it: 10,000 are at most 36 MB, 3 MB in practice. Beyond, the step fails with
 * RUN_TOO_LARGE.
 */
export const MAX_REGISTRATIONS = 10_000;
export const MAX_OPEN_EFFECTS = 10_000;
/** Maximum of memos of one revision of a step, because a repeated body reads them before it begins. */
export const MAX_MEMOS = 1_000;
/** UTF-8 bytes of a memo's name: each takes up to three in a document id, which ends at 1,500. */
export const MAX_MEMO_NAME_BYTES = 480;
/** Items of one map, or children of one step: their states are in the snapshot, their results in one output. */
export const MAX_ITEMS = 1_000;
/** Replays and forks in a row: each lookup in the ledger reads all of them. Resumes do not count. */
export const MAX_SCOPES = 50;
