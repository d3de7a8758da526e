/**
 * Validates bytes against an Avro type without decoding, because a few bytes can declare an array of millions of items, which a
 * decoder would allocate.
 */
import type avro from 'avsc';
import type { AvroShape } from './avro-shape.ts';

/** Greater than the depth of any real message. A limit is needed, because a record that always contains itself never ends. */
const DEEPEST = 500;
const INT_MAX = 2n ** 31n - 1n;
const LONG_MAX = 2n ** 63n - 1n;

/** @throws Error with the problem */
export function checkAvroBinary(type: avro.Type, bytes: Uint8Array): void {
  const cursor = new ByteCursor(bytes);
  check(type as unknown as AvroShape, cursor, 0);
  if (cursor.left > 0) throw new Error('there is more data than the schema declares');
}

function check(type: AvroShape, cursor: ByteCursor, depth: number): void {
  if (depth > DEEPEST) throw new Error(`it is nested more than ${DEEPEST} deep`);
  const within = (inner: AvroShape) => check(inner, cursor, depth + 1);
  switch (type.typeName) {
    case 'null':
      return;
    case 'boolean':
      if ((cursor.take(1)[0] ?? 2) > 1) throw new Error('a boolean is neither 0 nor 1');
      return;
    case 'int':
      cursor.integer(INT_MAX);
      return;
    case 'long':
    case 'abstract:long':
      cursor.integer(LONG_MAX);
      return;
    case 'float':
      cursor.take(4);
      return;
    case 'double':
      cursor.take(8);
      return;
    case 'bytes':
      cursor.take(cursor.length());
      return;
    case 'string':
      cursor.text();
      return;
    case 'fixed':
      cursor.take(type.size ?? 0);
      return;
    case 'enum':
      cursor.index(type.symbols ?? []);
      return;
    case 'array':
      checkBlocks(
        cursor,
        isEmpty(type.itemsType as AvroShape) ? undefined : () => within(type.itemsType as AvroShape),
      );
      return;
    case 'map':
      checkBlocks(cursor, () => {
        cursor.text();
        within(type.valuesType as AvroShape);
      });
      return;
    case 'record':
    case 'error':
      for (const field of type.fields ?? []) within(field.type);
      return;
    default:
      // Unions, of which avsc has two kinds.
      within(cursor.index(type.types ?? []));
  }
}

/** @param checkItem undefined if items take no bytes; then their number is not limited by the data */
function checkBlocks(cursor: ByteCursor, checkItem: (() => void) | undefined): void {
  for (let count = cursor.integer(LONG_MAX); count !== 0n; count = cursor.integer(LONG_MAX)) {
    // A negative count is followed by the size of its block.
    if (count < 0n) cursor.integer(LONG_MAX);
    if (checkItem === undefined) continue;
    for (let left = count < 0n ? -count : count; left > 0n; left--) checkItem();
  }
}

/** Returns true if a value of the type takes no bytes. A record already being examined adds nothing. */
function isEmpty(type: AvroShape, within: readonly AvroShape[] = []): boolean {
  if (type.typeName === 'null' || within.includes(type)) return true;
  if (type.typeName === 'fixed') return type.size === 0;
  return (
    type.typeName === 'record' && (type.fields ?? []).every((field) => isEmpty(field.type, [...within, type]))
  );
}

class ByteCursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(count: number): Uint8Array {
    if (count > this.left) throw new Error('the data is truncated');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Reads a zigzag integer of variable length, at most 64 bits. */
  integer(most: bigint): bigint {
    let zigzag = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (shift > 63n) throw new Error('an integer has more than 64 bits');
      const byte = BigInt(this.take(1)[0] ?? 0);
      zigzag |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) break;
    }
    const value = zigzag & 1n ? -(zigzag >> 1n) - 1n : zigzag >> 1n;
    if (value > most || value < -most - 1n) throw new Error(`an integer is greater than ${most}`);
    return value;
  }

  length(): number {
    const length = this.integer(LONG_MAX);
    if (length < 0n || length > BigInt(this.left)) throw new Error('the data is truncated');
    return Number(length);
  }

  text(): void {
    new TextDecoder('utf-8', { fatal: true }).decode(this.take(this.length()));
  }

  index<T>(choices: readonly T[]): T {
    const index = this.integer(INT_MAX);
    const choice = index < 0n ? undefined : choices[Number(index)];
    if (choice === undefined) throw new Error('a union index is not in the schema');
    return choice;
  }
}
