/** A growing byte buffer that is reused, so that building a key allocates only the key. */

const INITIAL_BYTES = 1024;
const FLIP_SIGN = 0x8000_0000_0000_0000n;

export class ByteWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Forgets everything after `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  u8(value: number): void {
    this.#grow(1);
    this.#buffer[this.#length++] = value;
  }

  u16(value: number): void {
    this.#grow(2);
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
  }

  raw(bytes: Uint8Array): void {
    this.#grow(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A signed 64-bit number whose bytes sort like the number. */
  orderedInteger(value: bigint): void {
    this.#grow(8);
    this.#length = this.#buffer.writeBigUInt64BE(BigInt.asUintN(64, value) ^ FLIP_SIGN, this.#length);
  }

  /** A double (not NaN) whose bytes sort like the number; -0 is written as 0. */
  orderedDouble(value: number): void {
    this.#grow(8);
    const at = this.#length;
    this.#buffer.writeDoubleBE(value === 0 ? 0 : value, at);
    const negative = (this.#buffer[at] as number) & 0x80;
    if (negative) for (let i = at; i < at + 8; i++) this.#buffer[i] = ~(this.#buffer[i] as number);
    else this.#buffer[at] = (this.#buffer[at] as number) | 0x80;
    this.#length += 8;
  }

  /** Text with an end mark, so that a prefix sorts first: a zero byte is written as 00 FF, the end as 00 01. */
  terminatedText(text: string): void {
    this.#grow(text.length * 3 + 2);
    const start = this.#length;
    this.#length += this.#buffer.write(text, start, 'utf8');
    if (text.includes('\0')) this.#escapeFrom(start);
    this.#end();
  }

  terminatedBytes(bytes: Uint8Array): void {
    const start = this.#length;
    this.raw(bytes);
    if (bytes.includes(0)) this.#escapeFrom(start);
    this.#end();
  }

  /** Inverts what was written since `start`, so that it sorts in descending order. */
  invertFrom(start: number): void {
    for (let i = start; i < this.#length; i++) this.#buffer[i] = ~(this.#buffer[i] as number);
  }

  /** A copy of everything written. */
  take(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #end(): void {
    this.u8(0);
    this.u8(1);
  }

  #escapeFrom(start: number): void {
    const plain = Buffer.from(this.#buffer.subarray(start, this.#length));
    this.#length = start;
    for (const byte of plain) {
      this.u8(byte);
      if (byte === 0) this.u8(0xff);
    }
  }

  #grow(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** The first key after every key that starts with `prefix`. Undefined when there is none (all bytes 0xFF). */
export function prefixEnd(prefix: Uint8Array): Buffer | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const end = Buffer.from(prefix.subarray(0, length));
  end[length - 1] = (end[length - 1] as number) + 1;
  return end;
}
