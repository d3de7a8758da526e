/**
 * `google.firestore.v1.Value` and maps of values, from bytes to the model. Refuses what Firestore refuses to store.
 * Hand-written because every document passes here: reflection would cost more than the rest of a commit.
 */
import {
  MAX_FIELD_NAME_BYTES,
  MAX_FIELD_PATH_BYTES,
  MAX_VALUE_BYTES,
  MAX_VALUE_DEPTH,
  MAX_VECTOR_DIMENSIONS,
  RESERVED_NAME,
} from '../model/limits.ts';
import { parseDocument } from '../model/resource-name.ts';
import { invalid } from '../model/status.ts';
import { type Fields, isNaNValue, NULL, type Value, vectorOf } from '../model/value.ts';
import { ProtoReader } from './proto-reader.ts';

/** Field number and wire type of each kind of value. */
const TAG = {
  boolean: 8,
  integer: 16,
  double: 25,
  reference: 42,
  map: 50,
  geo: 66,
  array: 74,
  timestamp: 82,
  null: 88,
  string: 138,
  bytes: 146,
} as const;
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
/** Paths of names up to this length are never too long, so only documents with longer names need a check. */
const SHORT_NAME_LENGTH = Math.floor((MAX_FIELD_PATH_BYTES / (MAX_VALUE_DEPTH + 1) - 1) / 3);

export function decodeValue(bytes: Uint8Array): Value {
  return readValue(new ProtoReader(bytes), bytes.length, 1);
}

/** Decodes a comparison value of a query, which may contain arrays of arrays. */
export function decodeOperand(bytes: Uint8Array): Value {
  const reader = new ProtoReader(bytes);
  reader.isOperand = true;
  return readValue(reader, bytes.length, 1);
}

/** Decodes an ArrayValue message of a write to `database`. A depth of 1 is a top-level field. */
export function decodeArray(
  bytes: Uint8Array,
  { database, depth }: { database: string; depth: number },
): readonly Value[] {
  checkDepth(depth);
  const reader = new ProtoReader(bytes);
  reader.database = database;
  return readArray(reader, bytes.length, depth + 1);
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
  let order = 0;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 10) key = reader.name();
    else if (tag === 18) value = readValue(reader, reader.end(), depth);
    else reader.skip(tag % 8);
    order = order * 10 + (tag === 10 ? 1 : tag === 18 ? 2 : 3);
  }
  reader.close(end);
  checkFieldName(key, depth);
  if (key.length > SHORT_NAME_LENGTH) reader.hasLongName = true;
  // An encoder writes the key, then the value, once each.
  if (order !== 12 || fields.has(key)) reader.altered = true;
  fields.set(key, value);
}

/** @param depth 1 for a top-level field. @throws INVALID_ARGUMENT for a name that no field can have */
export function checkFieldName(key: string, depth = 1): void {
  if (key === '') throw invalid('Field names cannot be empty.');
  if (key.charCodeAt(0) === 95 && RESERVED_NAME.test(key) && !(key === '__type__' && depth > 1)) {
    throw invalid(`Field name "${key}" is reserved: names cannot begin and end with "__".`);
  }
  if (key.length * 3 > MAX_FIELD_NAME_BYTES && Buffer.byteLength(key) > MAX_FIELD_NAME_BYTES) {
    throw invalid(`Field name "${key.slice(0, 40)}…" is longer than ${MAX_FIELD_NAME_BYTES} bytes.`);
  }
}

function readValue(reader: ProtoReader, end: number, depth: number): Value {
  let value: Value | undefined;
  while (reader.at < end) {
    // If several kinds are set, the last one counts, as in every protobuf oneof.
    if (value !== undefined) reader.altered = true;
    value = readKind(reader, reader.varint(), depth);
  }
  reader.close(end);
  if (value === undefined) throw invalid('Cannot convert firestore.v1.Value with type unset.');
  return value;
}

function readKind(reader: ProtoReader, tag: number, depth: number): Value {
  switch (tag) {
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
      return { kind: 'string', value: readText(reader) };
    case TAG.bytes: {
      const value = reader.slice();
      checkLength(reader, value.length);
      return { kind: 'bytes', value };
    }
    case TAG.reference:
      return { kind: 'reference', value: readReference(reader) };
    case TAG.geo:
      return readGeo(reader, reader.end());
    case TAG.array:
      checkDepth(depth);
      return { kind: 'array', values: readElements(reader, reader.end(), depth + 1) };
    case TAG.map:
      checkDepth(depth);
      return readMap(reader, reader.end(), depth + 1);
    default:
      throw invalid(`Values of protobuf field ${Math.floor(tag / 8)} cannot be stored.`);
  }
}

function readText(reader: ProtoReader): string {
  const start = reader.at;
  const value = reader.text();
  if (reader.at - start > MAX_VALUE_BYTES) checkLength(reader, Buffer.byteLength(value));
  return value;
}

function checkLength(reader: ProtoReader, bytes: number): void {
  if (reader.database !== undefined && bytes > MAX_VALUE_BYTES) {
    throw invalid(`A value is longer than ${MAX_VALUE_BYTES} bytes: it has ${bytes}.`);
  }
}

function checkDepth(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) {
    throw invalid(`Maps and arrays are nested deeper than ${MAX_VALUE_DEPTH} levels.`);
  }
}

/** A stored reference must name a document of its own database; a comparison value may name one of any database. */
function readReference(reader: ProtoReader): string {
  const name = reader.text();
  if (reader.database !== undefined || reader.isOperand) parseDocument(name, reader.database);
  return name;
}

function readArray(reader: ProtoReader, end: number, depth: number): Value[] {
  const values: Value[] = [];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag !== 10) {
      skipUnknown(reader, tag);
      continue;
    }
    const value = readValue(reader, reader.end(), depth);
    if (value.kind === 'array' && !reader.isOperand)
      throw invalid('Cannot convert an array value in an array value.');
    values.push(value);
  }
  reader.close(end);
  return values;
}

/** @throws INVALID_ARGUMENT for a vector in a stored array; comparison values may contain them */
function readElements(reader: ProtoReader, end: number, depth: number): Value[] {
  const values = readArray(reader, end, depth);
  if (reader.database !== undefined && values.some((value) => value.kind === 'map' && vectorOf(value.fields)))
    throw invalid('Cannot convert a vector value in an array value.');
  return values;
}

function readMap(reader: ProtoReader, end: number, depth: number): Value {
  const fields = new Map<string, Value>();
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 10) readFieldEntry(reader, reader.end(), fields, depth);
    else skipUnknown(reader, tag);
  }
  reader.close(end);
  if (fields.has('__type__')) checkVector(fields, reader.database !== undefined);
  return { kind: 'map', fields };
}

/** A comparison value may contain NaN; a stored vector may not. */
function checkVector(fields: Fields, isStored: boolean): void {
  const elements = vectorOf(fields);
  if (!elements || fields.size !== 2) throw invalid('Field name "__type__" is reserved.');
  if (elements.length === 0) throw invalid('Cannot have a zero length vector.');
  if (elements.length > MAX_VECTOR_DIMENSIONS) {
    throw invalid(`Vectors must be at most ${MAX_VECTOR_DIMENSIONS} dimensions.`);
  }
  if (elements.some((e) => e.kind !== 'double')) {
    throw invalid("Vector must only contain values of type 'double'");
  }
  if (isStored && elements.some(isNaNValue)) throw invalid('Vector cannot contain NaN values.');
}

/** Drops fields of a newer protocol, because this server cannot check what it would store. */
function skipUnknown(reader: ProtoReader, tag: number): void {
  reader.skip(tag % 8);
  reader.altered = true;
}

const outside = (part: string) => invalid(`Timestamp ${part} exceeds limit for field.`);

function readTimestamp(reader: ProtoReader, end: number): Value {
  let seconds = 0;
  let nanos = 0;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === 8) seconds = Number(reader.int64());
    else if (tag === 16) nanos = Number(reader.int64());
    else skipUnknown(reader, tag);
  }
  reader.close(end);
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw outside('seconds');
  if (nanos < 0 || nanos > 999_999_999) throw outside('nanos');
  // Firestore keeps microseconds and drops the rest.
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
    else skipUnknown(reader, tag);
  }
  reader.close(end);
  checkDegrees('latitude', latitude, 90);
  checkDegrees('longitude', longitude, 180);
  return { kind: 'geo', latitude, longitude };
}

function checkDegrees(name: string, value: number, most: number): void {
  if (Math.abs(value) <= most) return;
  throw invalid(
    `Geo point ${name} '${decimal(value)}' outside permitted range ${decimal(-most)} to ${decimal(most)}.`,
  );
}

/** Production writes whole numbers with one decimal. */
const decimal = (value: number) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
