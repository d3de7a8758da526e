/**
 * Owns the form of run ids and sequence ids, and the shard of a run.
 *
 * Must not: draw random bytes; they are passed in.
 */
import { sha256Hex } from './hash.ts';

/** RFC 4648 base32, lower case: safe in URLs, document ids, task names and file names, also without case distinction. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** 128 bits: ids are unique, and a run id cannot be guessed. */
export const ID_BYTES = 16;

/**
 * Default number of shards of an index over a growing value, because one range sustains a limited write rate. Also the number
 * that applies to runs whose first event names no shard.
 */
export const SHARD_COUNT = 16;
/** Most shards of an installation. Queries ask for 30 at a time. */
export const MAX_SHARDS = 256;

const MAX_SEQ = 9_999_999_999;

/**
 * A run id: `run_` and 26 base32 digits. It does not contain the time, so that documents written together are spread.
 *
 * @param random {@link ID_BYTES} random bytes
 */
export function makeRunId(random: Uint8Array): string {
  return `run_${base32(random)}`;
}

/** The id of a child: the same for every attempt to start it, so that it is started once. */
export function childRunId(parentRunId: string, waitId: string): string {
  const digest = Buffer.from(sha256Hex(`${parentRunId}/${waitId}`), 'hex');
  return makeRunId(digest.subarray(0, ID_BYTES));
}

export function isRunId(text: string): boolean {
  return /^run_[a-z2-7]{25}[aeimquy4]$/.test(text);
}

/** A shorter prefix matches too many runs. */
const MIN_PREFIX_DIGITS = 6;
const RUN_ID_PREFIX = new RegExp(`^run_[a-z2-7]{${MIN_PREFIX_DIGITS},25}$`);

/** Returns true if the text has the form of a run id prefix of at least {@link MIN_PREFIX_DIGITS} digits. */
export function isRunIdPrefix(text: string): boolean {
  return RUN_ID_PREFIX.test(text);
}

/** Document id of a sequence number: ten digits, so that the order of the ids is the order of the numbers. */
export function seqId(seq: number): string {
  if (!Number.isSafeInteger(seq) || seq < 1 || seq > MAX_SEQ) {
    throw new RangeError(`${seq} is not a sequence number`);
  }
  return String(seq).padStart(10, '0');
}

/** Hex digits that a shard is derived from. */
const SHARD_DIGITS = 8;

/**
 * Shard of a run or an idempotency key, 0 … `shards` − 1. Must never change: the journal does not store the shard for
 * {@link SHARD_COUNT}, and a run keeps its shard.
 */
export function shardOf(key: string, shards: number = SHARD_COUNT): number {
  const fraction = Number.parseInt(sha256Hex(key).slice(0, SHARD_DIGITS), 16) / 16 ** SHARD_DIGITS;
  return Math.floor(fraction * shards);
}

function base32(bytes: Uint8Array): string {
  if (bytes.length !== ID_BYTES)
    throw new RangeError(`an id requires ${ID_BYTES} random bytes, not ${bytes.length}`);
  let digits = '';
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      digits += BASE32.charAt((pending >> bits) & 31);
    }
  }
  return digits + BASE32.charAt((pending << (5 - bits)) & 31);
}
