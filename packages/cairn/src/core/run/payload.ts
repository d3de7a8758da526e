/**
 * Splits a large value into chunks and reassembles it. Chunks are bytes, not text, so that a cut may fall inside a
 * character.
 *
 * Must not: know where chunks are stored.
 */
import { sha256Hex } from '../encoding/hash.ts';
import type { PayloadRef } from './events.ts';

/** A chunk is one document: below Firestore's 1 MiB, with room for the names. */
export const PAYLOAD_CHUNK_BYTES = 900 * 1024;

export interface Payload {
  readonly ref: PayloadRef;
  readonly chunks: readonly Uint8Array[];
}

/** The same text gives the same reference and the same chunks. */
export function payloadOf(text: string): Payload {
  const bytes = Buffer.from(text);
  const ref = payloadRefOf(text);
  const chunks = Array.from({ length: ref.chunks }, (_, n) =>
    bytes.subarray(n * PAYLOAD_CHUNK_BYTES, (n + 1) * PAYLOAD_CHUNK_BYTES),
  );
  return { ref, chunks };
}

/** Returns the reference that the text would have, without writing it. */
export function payloadRefOf(text: string): PayloadRef {
  const bytes = Buffer.byteLength(text);
  return { sha256: sha256Hex(text), bytes, chunks: Math.ceil(bytes / PAYLOAD_CHUNK_BYTES) };
}

/**
 * Reassembles the text.
 *
 * @param chunks in order; undefined for a missing one
 * @param what names the payload in the error
 * @throws Error naming the missing chunk, or reporting that the bytes differ from those written
 */
export function payloadText(
  ref: PayloadRef,
  chunks: readonly (Uint8Array | undefined)[],
  what: string,
): string {
  const there = Array.from({ length: ref.chunks }, (_, n) => {
    const chunk = chunks[n];
    if (!chunk) throw new Error(`${what}: chunk ${n} of ${ref.chunks} is missing`);
    return chunk;
  });
  const bytes = Buffer.concat(there);
  if (bytes.length !== ref.bytes) {
    throw new Error(`${what}: ${bytes.length} bytes are there; ${ref.bytes} were written`);
  }
  if (sha256Hex(bytes) !== ref.sha256) throw new Error(`${what}: the bytes do not match their hash`);
  return bytes.toString();
}
