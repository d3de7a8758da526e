/**
 * Codec of `google.firestore.v1.Document`. The body of a stored document is the encoding of its name and fields. An answer
 * appends the times, so reading a document decodes nothing.
 */
import protobuf from 'protobufjs';
import { checkPathSizes } from '../model/field-path.ts';
import type { Fields, Value } from '../model/value.ts';
import { ProtoReader } from './proto-reader.ts';
import { readFieldEntry } from './value-decoder.ts';
import { writeFields } from './value-encoder.ts';

interface DecodedDocument {
  readonly name: string;
  readonly fields: Fields;
  /** True if the bytes are exactly those to store: the name first and once, then only fields. */
  readonly exact: boolean;
}

/** @param database database of the write; absent for a stored document */
export function decodeDocument(bytes: Uint8Array, database?: string): DecodedDocument {
  const reader = new ProtoReader(bytes);
  reader.database = database;
  const fields = new Map<string, Value>();
  let name = '';
  let entries = 0;
  let exact = true;
  while (reader.at < reader.bytes.length) {
    const tag = reader.varint();
    if (tag === 10) {
      if (reader.at !== 1) exact = false;
      name = reader.text();
    } else if (tag === 18) {
      readFieldEntry(reader, reader.end(), fields, 1);
      entries++;
    } else {
      reader.skip(tag % 8);
      exact = false;
    }
  }
  reader.close(reader.bytes.length);
  if (database !== undefined && reader.hasLongName) checkPathSizes(fields);
  return { name, fields, exact: exact && name !== '' && entries === fields.size && !reader.altered };
}

/**
 * The name of a stored document and its `wanted` fields; default: all. Other fields are skipped without decoding, because a list of runs
 * needs a few kilobytes of documents of up to 1 MiB.
 */
export function decodeStored(
  body: Uint8Array,
  wanted?: ReadonlySet<string>,
): Pick<DecodedDocument, 'name' | 'fields'> {
  if (!wanted) return decodeDocument(body);
  const reader = new ProtoReader(body);
  const fields = new Map<string, Value>();
  let name = '';
  while (reader.at < reader.bytes.length) {
    const tag = reader.varint();
    if (tag === 10) name = reader.text();
    else if (tag === 18) {
      const end = reader.end();
      const start = reader.at;
      // In stored documents the key comes first.
      const isWanted = reader.varint() !== 10 || wanted.has(reader.name());
      reader.at = isWanted ? start : end;
      if (isWanted) readFieldEntry(reader, end, fields, 1);
    } else reader.skip(tag % 8);
  }
  return { name, fields };
}

/** Only the name, which is the first field of every stored body. */
export function decodeName(body: Uint8Array): string {
  const reader = new ProtoReader(body);
  while (reader.at < reader.bytes.length) {
    const tag = reader.varint();
    if (tag === 10) return reader.text();
    reader.skip(tag & 7);
  }
  return '';
}

/** The body to store. */
export function encodeBody(name: string, fields: Fields): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(10).string(name);
  writeFields(writer, fields, 18);
  return Buffer.from(writer.finish());
}

/** A Document message: body, create time, update time (microseconds since 1970). */
export function encodeDocument(body: Uint8Array, createTime: number, updateTime: number): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2 * MAX_TIME_BYTES);
  out.set(body);
  let at = writeTime(out, body.length, 26, createTime);
  at = writeTime(out, at, 34, updateTime);
  return out.subarray(0, at);
}

/** Tag of `string_value` in a Value. */
const STRING_TAG = 138;
/** Tag, length, two tags, 10 bytes of seconds (negative), 5 bytes of nanos. */
const MAX_TIME_BYTES = 19;

function writeTime(out: Buffer, start: number, tag: number, micros: number): number {
  const seconds = Math.floor(micros / 1e6);
  let at = start;
  out[at++] = tag;
  const lengthAt = at++;
  out[at++] = 8;
  at = writeVarint(out, at, seconds);
  out[at++] = 16;
  at = writeVarint(out, at, (micros - seconds * 1e6) * 1000);
  out[lengthAt] = at - lengthAt - 1;
  return at;
}

/** @param value not negative, because all times are times of writes */
function writeVarint(out: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 128) {
    out[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  return at;
}

/** The text of one top-level field, without decoding the others. Undefined if the field is absent or not a text. */
export function readTextField(body: Uint8Array, field: string): string | undefined {
  const reader = new ProtoReader(body);
  while (reader.at < reader.bytes.length) {
    const tag = reader.varint();
    if (tag !== 18) {
      reader.skip(tag & 7);
      continue;
    }
    const end = reader.end();
    if (reader.varint() === 10 && reader.name() === field && reader.varint() === 18) {
      reader.end();
      return reader.varint() === STRING_TAG ? reader.text() : undefined;
    }
    reader.at = end;
  }
  return undefined;
}
