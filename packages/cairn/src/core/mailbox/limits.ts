/** Limits of events, signals and event mailboxes. A mailbox stays below the limit of a document (1 MiB). */

/** Longest name of an event or signal. */
export const MAX_EVENT_NAME_CHARS = 100;
/** Longest correlation key, which is something like a commit hash or an order number. */
export const MAX_EVENT_KEY_CHARS = 500;

/** Most registered waits: each event is appended to all of their runs. */
export const MAX_WAITING = 2_000;
/** Ids of these waits together, in bytes as stored: 2,000 of usual length, half as many with the longest ids. */
export const MAX_WAITING_BYTES = 224 * 1024;
/** Most undelivered events. */
export const MAX_BUFFERED = 100;
/** Data of these events together, in bytes of canonical JSON. */
export const MAX_BUFFERED_BYTES = 512 * 1024;
/** Data of one event: its output fits into a checkpoint. */
export const MAX_DELIVERED_BYTES = 256 * 1024;
/** Time an undelivered event is buffered, and a delivered one is recognised, in ms. */
export const EVENT_TTL_MS = 24 * 3_600_000;
/** Delivered events remembered: a sender repeats itself within its next few messages. */
export const MAX_REMEMBERED = 100;
/** Receivers that a delivered event names; beyond that, only the fact of a delivery matters. */
export const MAX_NAMED_RUNS = 20;
