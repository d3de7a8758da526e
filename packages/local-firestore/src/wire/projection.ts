/**
 * Applies a projection or a read mask to stored documents. Whole fields are copied as bytes, because a list of runs takes some forty fields
 * of each run.
 */
import protobuf from 'protobufjs';
import { type FieldPath, project } from '../model/field-path.ts';
import type { Value } from '../model/value.ts';
import { decodeStored, encodeBody } from './document-codec.ts';
import { ProtoReader } from './proto-reader.ts';
import { readFieldEntry } from './value-decoder.ts';
import { writeFields } from './value-encoder.ts';

/** A mask grouped by top-level field. */
interface MaskParts {
  readonly whole: ReadonlySet<string>;
  /** Paths to nested fields, by top-level field. */
  readonly within: ReadonlyMap<string, readonly FieldPath[]>;
}

/** Parts by mask, because all documents of an answer share one mask. */
const known = new WeakMap<readonly FieldPath[], MaskParts>();

/** The body of a document with only these parts, in the order of the document. */
export function projectedBody(body: Uint8Array, mask: readonly FieldPath[]): Uint8Array {
  const { whole, within } = partsOf(mask);
  const reader = new ProtoReader(body);
  const { bytes } = reader;
  const pieces: Uint8Array[] = [];
  let from = 0;
  while (reader.at < bytes.length) {
    const start = reader.at;
    const tag = reader.varint();
    if (tag !== FIELDS_TAG) {
      reader.skip(tag & 7);
      continue;
    }
    const end = reader.end();
    const entry = reader.at;
    // In stored documents the key comes first.
    if (reader.varint() !== KEY_TAG) return projectedByValues(body, mask);
    const name = reader.name();
    reader.at = end;
    if (whole.has(name)) continue;
    if (start > from) pieces.push(bytes.subarray(from, start));
    from = end;
    const paths = within.get(name);
    if (paths) pieces.push(partOf(reader, { entry, end }, paths));
  }
  if (bytes.length > from) pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

/** Tags of a field of a document, and of the name in it. */
const FIELDS_TAG = 18;
const KEY_TAG = 10;

function partOf(
  reader: ProtoReader,
  { entry, end }: { entry: number; end: number },
  paths: readonly FieldPath[],
): Uint8Array {
  const fields = new Map<string, Value>();
  reader.at = entry;
  readFieldEntry(reader, end, fields, 1);
  const writer = protobuf.Writer.create();
  writeFields(writer, project(fields, paths), FIELDS_TAG);
  return writer.finish();
}

function projectedByValues(body: Uint8Array, mask: readonly FieldPath[]): Uint8Array {
  const { name, fields } = decodeStored(body);
  return encodeBody(name, project(fields, mask));
}

function partsOf(mask: readonly FieldPath[]): MaskParts {
  let parts = known.get(mask);
  if (!parts) {
    const whole = new Set(mask.flatMap((path) => (path.length === 1 ? path : [])));
    const reaching = mask.filter(([head]) => !whole.has(head as string));
    parts = { whole, within: Map.groupBy(reaching, ([head]) => head as string) };
    known.set(mask, parts);
  }
  return parts;
}
