/**
 * Writes protobuf from its end to its beginning, so that the length of a message is known when it is written, after its
 * content. Knows Firestore's `Value`; of other messages it knows only kinds of fields.
 */
import { Timestamp } from '@google-cloud/firestore';
import type { Members } from '../codec/kinds.ts';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Field numbers of `google.firestore.v1.Value`. */
const VALUE = {
  boolean: 1,
  integer: 2,
  double: 3,
  map: 6,
  array: 9,
  timestamp: 10,
  nothing: 11,
  string: 17,
} as const;
const MAP_FIELDS = 1;
const MAP_ENTRY = { key: 1, value: 2 } as const;
const ARRAY_VALUES = 1;
const TIMESTAMP = { seconds: 1, nanos: 2 } as const;

/** Initial buffer size; most commits are smaller. */
const INITIAL_BYTES = 64 * 1024;
/** A buffer larger than this is not reused. */
const KEPT_BYTES = 1024 * 1024;
/** Text shorter than this is written by a loop, because a call of the runtime costs more. */
const SHORT = 32;
const TWO_32 = 0x1_0000_0000;

export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  /** Position of the first byte that is in use. */
  #at = INITIAL_BYTES;

  /** Returns a copy of the bytes written since the last call. */
  finish(): Uint8Array {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at));
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
    this.#at = this.#buffer.length;
    return bytes;
  }

  /** @param write writes the fields of the message, the last first */
  message(field: number, write: () => void): void {
    const after = this.#written;
    write();
    this.#close(field, after);
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
    this.#varint32(bytes.length);
    this.#tag(field, BYTES);
  }

  string(field: number, text: string): void {
    const size = this.#text(text);
    this.#varint32(size);
    this.#tag(field, BYTES);
  }

  boolean(field: number, value: boolean): void {
    this.#varint32(value ? 1 : 0);
    this.#tag(field, VARINT);
  }

  /** @param value not negative */
  int32(field: number, value: number): void {
    this.#varint32(value);
    this.#tag(field, VARINT);
  }

  timestamp(field: number, time: Timestamp): void {
    const after = this.#written;
    this.int32(TIMESTAMP.nanos, time.nanoseconds);
    this.#int64(time.seconds);
    this.#tag(TIMESTAMP.seconds, VARINT);
    this.#close(field, after);
  }

  map(field: number, entry: { readonly key: number; readonly value: number }, members: Members): void {
    const names = Object.keys(members);
    for (let i = names.length - 1; i >= 0; i -= 1) {
      const name = names[i] as string;
      const after = this.#written;
      this.value(members[name], name);
      this.#close(entry.value, after);
      this.string(entry.key, name);
      this.#close(field, after);
    }
  }

  /** Writes the fields of a `Value`. @throws Error for a kind that no codec writes, naming the member */
  value(member: unknown, name: string): void {
    if (typeof member === 'string') this.string(VALUE.string, member);
    else if (typeof member === 'boolean') this.boolean(VALUE.boolean, member);
    else if (typeof member === 'number') this.#number(member);
    else if (member === null) this.int32(VALUE.nothing, 0);
    else if (member instanceof Timestamp) this.timestamp(VALUE.timestamp, member);
    else if (Array.isArray(member)) this.#array(member, name);
    else if (typeof member === 'object' && Object.getPrototypeOf(member) === Object.prototype) {
      const after = this.#written;
      this.map(MAP_FIELDS, MAP_ENTRY, member as Members);
      this.#close(VALUE.map, after);
    } else throw new Error(`member '${name}' has a kind that no codec writes`);
  }

  #array(members: readonly unknown[], name: string): void {
    const after = this.#written;
    for (let i = members.length - 1; i >= 0; i -= 1) {
      const afterOne = this.#written;
      this.value(members[i], name);
      this.#close(ARRAY_VALUES, afterOne);
    }
    this.#close(VALUE.array, after);
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) {
      this.#int64(value);
      this.#tag(VALUE.integer, VARINT);
      return;
    }
    this.#reserve(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#tag(VALUE.double, FIXED64);
  }

  get #written(): number {
    return this.#buffer.length - this.#at;
  }

  /** Writes the length and tag of a message before which `after` bytes had been written. */
  #close(field: number, after: number): void {
    this.#varint32(this.#written - after);
    this.#tag(field, BYTES);
  }

  /** Writes UTF-8 and returns its size in bytes. */
  #text(text: string): number {
    const { length } = text;
    if (length < SHORT && this.#ascii(text)) return length;
    const size = Buffer.byteLength(text);
    this.#reserve(size);
    this.#at -= size;
    this.#buffer.write(text, this.#at, 'utf8');
    return size;
  }

  /** Returns false, and writes nothing, if the text has another character. */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#reserve(length);
    const from = this.#at - length;
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#buffer[from + i] = code;
    }
    this.#at = from;
    return true;
  }

  #tag(field: number, kind: number): void {
    this.#varint32((field << 3) | kind);
  }

  /** @param value from 0 to 2^32 − 1 */
  #varint32(value: number): void {
    let size = 1;
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) size += 1;
    this.#reserve(size);
    this.#at -= size;
    let at = this.#at;
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80;
    this.#buffer[at] = rest;
  }

  /** @param value a safe integer; a negative one takes ten bytes */
  #int64(value: number): void {
    if (value >= 0 && value < TWO_32) {
      this.#varint32(value);
      return;
    }
    const magnitude = Math.abs(value);
    let low = magnitude >>> 0;
    let high = ((magnitude - low) / TWO_32) >>> 0;
    if (value < 0) {
      // Two's complement.
      high = ~high >>> 0;
      low = (~low + 1) >>> 0;
      if (low === 0) high = (high + 1) >>> 0;
    }
    const bytes: number[] = [];
    while (high > 0 || low > 0x7f) {
      bytes.push((low & 0x7f) | 0x80);
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    bytes.push(low);
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  #reserve(size: number): void {
    if (size <= this.#at) return;
    const written = this.#written;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, written + size));
    this.#buffer.copy(larger, larger.length - written, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - written;
  }
}
