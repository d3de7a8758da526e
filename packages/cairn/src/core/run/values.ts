/**
 * Location of a value of a run: in the snapshot if small, in the checkpoint of an event if larger, as a payload to
 * which the checkpoint points if large.
 */
import { CairnError } from '../errors.ts';
import type { StoredValue } from './events.ts';
import { CHECKPOINT_VALUE_BYTES, SNAPSHOT_VALUE_BYTES } from './limits.ts';

/**
 * @param most bytes; what a checkpoint carries, unless there is more room
 * @throws CairnError PAYLOAD_TOO_LARGE
 */
export function assertFits(text: string, what: string, most: number = CHECKPOINT_VALUE_BYTES): void {
  if (!isLongerThan(text, most)) return;
  throw new CairnError(
    'PAYLOAD_TOO_LARGE',
    `${what} has ${Buffer.byteLength(text)} bytes; the maximum is ${most}`,
    { field: what },
  );
}

/**
 * Returns true if the text is too large for a checkpoint: it must be written as a payload, before the commit that
 * references it.
 */
export function needsPayload(text: string): boolean {
  return isLongerThan(text, CHECKPOINT_VALUE_BYTES);
}

/** A reference to `text` for the snapshot; `seq` is the event whose checkpoint carries it (or points to it) if it is large. */
export function storedValueOf(text: string, seq: number): StoredValue {
  return isLongerThan(text, SNAPSHOT_VALUE_BYTES) ? { checkpoint: seq } : { text };
}

/** A UTF-16 unit takes one to three bytes of UTF-8, so that most texts need not be counted. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}
