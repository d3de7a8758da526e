/** Where a value of a run is kept: in the snapshot if small, in the checkpoint of an event otherwise. */
import { CairnError } from '../errors.ts';
import type { StoredValue } from './events.ts';
import { CHECKPOINT_VALUE_BYTES, SNAPSHOT_VALUE_BYTES } from './limits.ts';

/** @throws CairnError PAYLOAD_TOO_LARGE for a text no checkpoint can carry */
export function assertFits(text: string, what: string): void {
  // A UTF-16 unit takes at most three bytes of UTF-8: most texts need not be counted.
  if (text.length * 3 <= CHECKPOINT_VALUE_BYTES) return;
  const bytes = Buffer.byteLength(text);
  if (bytes > CHECKPOINT_VALUE_BYTES) {
    throw new CairnError(
      'PAYLOAD_TOO_LARGE',
      `${what} has ${bytes} bytes; the most is ${CHECKPOINT_VALUE_BYTES}`,
      {
        field: what,
      },
    );
  }
}

/** A reference to `text` for the snapshot; `seq` is the event whose checkpoint carries it if it is large. */
export function storedValue(text: string, seq: number): StoredValue {
  return Buffer.byteLength(text) <= SNAPSHOT_VALUE_BYTES ? { text } : { checkpoint: seq };
}
