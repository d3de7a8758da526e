/** Sizes of values, in bytes of canonical JSON text (DESIGN section 3). */

/** What a snapshot carries inline; above it the snapshot points to a checkpoint. */
export const SNAPSHOT_VALUE_BYTES = 16 * 1024;
/** What a checkpoint carries inline: the largest input, output or result a run can have. */
export const CHECKPOINT_VALUE_BYTES = 256 * 1024;
