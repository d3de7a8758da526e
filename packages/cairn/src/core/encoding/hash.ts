/**
 * Owns the hash function of the project (SHA-256, lower-case hex) and the rule of the journal's hash chain.
 *
 * Must not: decide what is hashed (see fingerprint.ts and run/chain.ts) or turn values into text (see json.ts).
 */
import { hash } from 'node:crypto';

const SHA256_HEX = /^[0-9a-f]{64}$/;

/** SHA-256 as 64 lower-case hex digits. Text is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Returns true if the text has the form of a {@link sha256Hex} result. No canonical JSON text has it. */
export function isSha256Hex(text: string): boolean {
  return SHA256_HEX.test(text);
}

/**
 * Hash of one journal event. It includes the hash of the event before, so a changed, lost or exchanged event changes every later
 * hash.
 *
 * @param prevHash hash of the event before, or {@link genesisHash} for the first
 * @param eventWithoutHash canonical JSON text of the event without its `hash` member
 */
export function eventHash(prevHash: string, eventWithoutHash: string): string {
  return sha256Hex(prevHash + eventWithoutHash);
}

/** `prevHash` of a run's first event: ties the chain to its run, so that a journal cannot be moved to another. */
export function genesisHash(runId: string): string {
  return sha256Hex(runId);
}
