/** Reads the protocol-buffer wire format directly from a request's bytes. Independent of message types. */
import { isUtf8 } from 'node:buffer';
import { invalid } from '../model/status.ts';

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;

const NOTHING = Buffer.alloc(0);

/** Cache of recent names, indexed by a hash of their bytes. The size is a power of two. */
const KNOWN_NAMES: (string | undefined)[] = new Array(1_024);
/** Longer names are not cached. */
const MAX_KNOWN_NAME_BYTES = 32;

export class ProtoReader {
  readonly bytes: Buffer;
  at = 0;
  /** Set by a codec that read a value whose encoding would differ. */
  altered = false;
  /** Set by a codec that read a field name that may make a field path too long. */
  hasLongName = false;
  /** True for a comparison value of a query. It may contain arrays of arrays (`in` over arrays); stored values may not. */
  isOperand = false;
  /** Database of the write being read, to which references must belong. Undefined outside of writes. */
  database: string | undefined;

  /** The protocol decoder gives an empty array instead of bytes for a field missing in the request. */
  constructor(bytes: Uint8Array) {
    if (Buffer.isBuffer(bytes)) this.bytes = bytes;
    else if (bytes.length === 0) this.bytes = NOTHING;
    else this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** An unsigned number below 2^53; for tags, lengths, booleans and small enums. */
  varint(): number {
    let result = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw truncated();
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) return result;
      scale *= 128;
    }
    throw truncated();
  }

  /** A signed 64-bit integer. */
  int64(): bigint {
    let low = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw truncated();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(low);
      scale *= 128;
    }
    let high = 0n;
    for (let shift = 0n; shift < 21n; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw truncated();
      high |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, BigInt(low) | (high << 49n));
    }
    throw truncated();
  }

  double(): number {
    if (this.at + 8 > this.bytes.length) throw truncated();
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** Reads a length and returns the end of the field that follows. */
  end(): number {
    const length = this.varint();
    const end = this.at + length;
    if (end > this.bytes.length) throw truncated();
    return end;
  }

  /** Call at the expected end of a message. Refuses bytes whose last field extends beyond it. */
  close(end: number): void {
    if (this.at !== end) throw truncated();
  }

  /** @throws INVALID_ARGUMENT for invalid UTF-8, a lone surrogate included. */
  text(): string {
    const end = this.end();
    const text = this.bytes.toString('utf8', this.at, end);
    // The replacement character either marks undecodable bytes or was sent as such.
    if (text.includes('\ufffd') && !isUtf8(this.bytes.subarray(this.at, end))) {
      throw invalid('A string in the request is not valid UTF-8.');
    }
    this.at = end;
    return text;
  }

  /**
   * Like {@link text}, for text that repeats from document to document, such as field names. Most of it comes from a cache, without a call of
   * the runtime and as the same string, which is hashed once.
   */
  name(): string {
    const start = this.at;
    const end = this.end();
    const from = this.at;
    const length = end - from;
    let hash = length;
    for (let i = from; i < end; i++) hash = (Math.imul(hash, 31) + (this.bytes[i] as number)) | 0;
    const place = hash & (KNOWN_NAMES.length - 1);
    const known = KNOWN_NAMES[place];
    if (known !== undefined && this.#isAscii(known, from, length)) {
      this.at = end;
      return known;
    }
    this.at = start;
    const name = this.text();
    // Text with the same number of units and bytes is ASCII.
    if (length <= MAX_KNOWN_NAME_BYTES && name.length === length) KNOWN_NAMES[place] = name;
    return name;
  }

  /** @param text ASCII only */
  #isAscii(text: string, from: number, length: number): boolean {
    if (text.length !== length) return false;
    for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== this.bytes[from + i]) return false;
    return true;
  }

  slice(): Buffer {
    const end = this.end();
    const slice = this.bytes.subarray(this.at, end);
    this.at = end;
    return slice;
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === FIXED64) this.at += 8;
    else if (wireType === BYTES) this.at = this.end();
    else if (wireType === FIXED32) this.at += 4;
    else throw invalid(`Unknown protobuf wire type ${wireType}.`);
  }
}

function truncated(): Error {
  return invalid('The request ends in the middle of a protobuf field.');
}
