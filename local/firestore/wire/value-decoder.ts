/**
 * `google.firestore.v1.Value` and maps of values, from bytes to the model. Refuses what Firestore refuses to store.
 * Hand-written because every document passes here: reflection would cost more than the rest of a commit.
 */
import { MAX_FIELD_NAME_BYTES, MAX_VALUE_DEPTH } from '../model/limits.ts';
import { invalid } from '../model/status.ts';
import { NULL, type Value, vectorOf } from '../model/value.ts';
import { ProtoReader } from './proto-reader.ts';

const TAG = {
  boolean: 1,
  integer: 2,
  double: 3,
  reference: 5,
  map: 6,
  geo: 8,
  array: 9,
  timestamp: 10,
  null: 11,
  string: 17,
  bytes: 18,
} as const;
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
const RESERVED = /^__.*__$/s;

/** Decodes one Value message. */
export function decodeValue(bytes: Uint8Array): Value {
  return readValue(new ProtoReader(bytes), bytes.length, 1);
}

/** Decodes a Value that a query compares with: it may hold arrays of arrays. */
export function decodeOperand(bytes: Uint8Array): Value {
  const reader = new ProtoReader(bytes);
  reader.nestedArrays = true;
  return readValue(reader, bytes.length, 1);
}

/** Decodes an ArrayValue message. */
export function decodeArray(bytes: Uint8Array): readonly Value[] {
  return readArray(new ProtoReader(bytes), bytes.length, 1);
}

/** Reads one map entry (`key = 1`, `value = 2`) that ends at `end` into `fields`. */
export function readFieldEntry(
  reader: ProtoReader,
  end: number,
  fields: Map<string, Value>,
  depth: number,
): void {
  let key = '';
  let value: Value = NULL;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 10) key = reader.text();
    else if (tag === 18) value = readValue(reader, reader.end(), depth);
    else reader.skip(tag & 7);
  }
  checkFieldName(key, depth);
  fields.set(key, value);
}

function checkFieldName(key: string, depth: number): void {
  if (key === '') throw invalid('Field names cannot be empty.');
  if (key.charCodeAt(0) === 95 && RESERVED.test(key) && !(key === '__type__' && depth > 1)) {
    throw invalid(`Field name "${key}" is reserved: names cannot begin and end with "__".`);
  }
  if (key.length * 3 > MAX_FIELD_NAME_BYTES && Buffer.byteLength(key) > MAX_FIELD_NAME_BYTES) {
    throw invalid(`Field name "${key.slice(0, 40)}…" is longer than ${MAX_FIELD_NAME_BYTES} bytes.`);
  }
}

function readValue(reader: ProtoReader, end: number, depth: number): Value {
  let value: Value | undefined;
  while (reader.at < end) {
    const tag = reader.varint();
    value = readKind(reader, tag, depth);
  }
  if (value === undefined) throw invalid('A value has no type set.');
  return value;
}

function readKind(reader: ProtoReader, tag: number, depth: number): Value {
  switch (tag >>> 3) {
    case TAG.null:
      reader.varint();
      return NULL;
    case TAG.boolean:
      return { kind: 'boolean', value: reader.varint() !== 0 };
    case TAG.integer:
      return { kind: 'integer', value: reader.int64() };
    case TAG.double:
      return { kind: 'double', value: reader.double() };
    case TAG.timestamp:
      return readTimestamp(reader, reader.end());
    case TAG.string:
      return { kind: 'string', value: reader.text() };
    case TAG.bytes:
      return { kind: 'bytes', value: reader.slice() };
    case TAG.reference:
      return { kind: 'reference', value: reader.text() };
    case TAG.geo:
      return readGeo(reader, reader.end());
    case TAG.array:
      checkDepth(depth);
      return { kind: 'array', values: readArray(reader, reader.end(), depth + 1) };
    case TAG.map:
      checkDepth(depth);
      return readMap(reader, reader.end(), depth + 1);
    default:
      throw invalid(`Values of protobuf field ${tag >>> 3} cannot be stored.`);
  }
}

function checkDepth(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) {
    throw invalid(`Maps and arrays are nested deeper than ${MAX_VALUE_DEPTH} levels.`);
  }
}

function readArray(reader: ProtoReader, end: number, depth: number): Value[] {
  const values: Value[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag !== 10) {
      reader.skip(tag & 7);
      continue;
    }
    const value = readValue(reader, reader.end(), depth);
    if (value.kind === 'array' && !reader.nestedArrays)
      throw invalid('Cannot store an array inside an array: wrap it in a map.');
    values.push(value);
  }
  return values;
}

function readMap(reader: ProtoReader, end: number, depth: number): Value {
  const fields = new Map<string, Value>();
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 10) readFieldEntry(reader, reader.end(), fields, depth);
    else reader.skip(tag & 7);
  }
  if (fields.has('__type__') && !vectorOf(fields)) throw invalid('Field name "__type__" is reserved.');
  return { kind: 'map', fields };
}

function readTimestamp(reader: ProtoReader, end: number): Value {
  let seconds = 0;
  let nanos = 0;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 8) seconds = Number(reader.int64());
    else if (tag === 16) nanos = Number(reader.int64());
    else reader.skip(tag & 7);
  }
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS || nanos < 0 || nanos > 999_999_999) {
    throw invalid('A timestamp lies outside 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.');
  }
  // Firestore keeps microseconds: what is finer is dropped.
  if (nanos % 1000 !== 0) reader.altered = true;
  return { kind: 'timestamp', seconds, nanos: nanos - (nanos % 1000) };
}

function readGeo(reader: ProtoReader, end: number): Value {
  let latitude = 0;
  let longitude = 0;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 9) latitude = reader.double();
    else if (tag === 17) longitude = reader.double();
    else reader.skip(tag & 7);
  }
  if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180)) {
    throw invalid(`Geo point (${latitude}, ${longitude}) is out of range.`);
  }
  return { kind: 'geo', latitude, longitude };
}
