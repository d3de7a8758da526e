/**
 * The order-preserving encoding of values: for any two values, comparing the bytes gives `compareValues`.
 * Values that compare equal (3 and 3.0) encode equally. Pure; the layout is private to the index entries.
 */
import type { ByteWriter } from './byte-writer.ts';
import { numericId, sortedKeys, type Value, vectorOf } from './value.ts';

/** Ends a list. Smaller than every type mark, so that a shorter list sorts first. */
const LIST_END = 1;
const MARK = {
  null: 0x08,
  boolean: 0x10,
  nan: 0x18,
  number: 0x19,
  timestamp: 0x20,
  string: 0x28,
  bytes: 0x30,
  reference: 0x38,
  geo: 0x40,
  array: 0x48,
  vector: 0x50,
  map: 0x58,
} as const;
/** Doubles between two neighbouring 64-bit integers differ by at most 1,024 at 2^63: the correction fits 16 bits. */
const CORRECTION_BIAS = 0x8000;

export function writeValueKey(out: ByteWriter, value: Value): void {
  switch (value.kind) {
    case 'null':
      out.u8(MARK.null);
      break;
    case 'boolean':
      out.u8(MARK.boolean);
      out.u8(value.value ? 1 : 0);
      break;
    case 'integer':
      writeInteger(out, value.value);
      break;
    case 'double':
      writeDouble(out, value.value);
      break;
    case 'timestamp':
      out.u8(MARK.timestamp);
      out.orderedDouble(value.seconds);
      out.orderedDouble(value.nanos);
      break;
    case 'string':
      out.u8(MARK.string);
      out.terminatedText(value.value);
      break;
    case 'bytes':
      out.u8(MARK.bytes);
      out.terminatedBytes(value.value);
      break;
    case 'reference':
      out.u8(MARK.reference);
      for (const segment of value.value.split('/')) writeSegmentKey(out, segment);
      out.u8(0);
      break;
    case 'geo':
      out.u8(MARK.geo);
      out.orderedDouble(value.latitude);
      out.orderedDouble(value.longitude);
      break;
    case 'array':
      out.u8(MARK.array);
      writeList(out, value.values);
      break;
    case 'map':
      writeMap(out, value.fields);
      break;
  }
}

/** One segment of a document path; numeric ids sort before all others. */
export function writeSegmentKey(out: ByteWriter, segment: string): void {
  const id = numericId(segment);
  if (id === undefined) {
    out.u8(2);
    out.terminatedText(segment);
  } else {
    out.u8(1);
    out.orderedInteger(id);
  }
}

/**
 * Key range of one type, which bounds an inequality. `to` is exclusive. NaN is outside the range of numbers, because it has a place in an
 * order but is neither less nor greater than any number.
 */
export function typeKeyRange(value: Value): { from: number; to: number } {
  switch (value.kind) {
    case 'integer':
    case 'double':
      return { from: MARK.number, to: MARK.number + 1 };
    case 'map': {
      const mark = vectorOf(value.fields) ? MARK.vector : MARK.map;
      return { from: mark, to: mark + 1 };
    }
    default:
      return { from: MARK[value.kind], to: MARK[value.kind] + 1 };
  }
}

function writeInteger(out: ByteWriter, value: bigint): void {
  const nearest = Number(value);
  out.u8(MARK.number);
  out.orderedDouble(nearest);
  out.u16(CORRECTION_BIAS + Number(value - BigInt(nearest)));
}

function writeDouble(out: ByteWriter, value: number): void {
  if (Number.isNaN(value)) {
    out.u8(MARK.nan);
    return;
  }
  out.u8(MARK.number);
  out.orderedDouble(value);
  out.u16(CORRECTION_BIAS);
}

function writeList(out: ByteWriter, values: readonly Value[]): void {
  for (const value of values) writeValueKey(out, value);
  out.u8(LIST_END);
}

function writeMap(out: ByteWriter, fields: ReadonlyMap<string, Value>): void {
  const vector = vectorOf(fields);
  if (vector) {
    out.u8(MARK.vector);
    out.orderedDouble(vector.length);
    writeList(out, vector);
    return;
  }
  out.u8(MARK.map);
  for (const key of sortedKeys(fields)) {
    out.u8(2);
    out.terminatedText(key);
    writeValueKey(out, fields.get(key) as Value);
  }
  out.u8(LIST_END);
}
