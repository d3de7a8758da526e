/**
 * Validates bytes against a protobuf type. Stricter than decoding, which accepts bytes of another wire type for a
 * field. Unknown fields are skipped, as in every protobuf reader.
 */
import protobuf from 'protobufjs';

const BYTES = 2;
const PACKABLE: Readonly<Record<string, number | undefined>> = protobuf.types.packed;
const WIRE_TYPES: Readonly<Record<string, number | undefined>> = protobuf.types.basic;
/** The depth limit of protobuf's own readers. */
const DEEPEST = 100;

/** @throws Error with the problem */
export function checkBinary(type: protobuf.Type, bytes: Uint8Array, depth = 0): void {
  if (depth > DEEPEST) throw new Error(`it is nested more than ${DEEPEST} deep`);
  const reader = protobuf.Reader.create(bytes);
  const seen = new Set<number>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    const field = type.fieldsById[tag >>> 3];
    if (tag >>> 3 === 0) throw new Error('a field has the number 0');
    if (field === undefined) reader.skipType(wireType);
    else {
      seen.add(field.id);
      checkField(field, wireType, { reader, depth });
    }
  }
  for (const field of type.fieldsArray) {
    if (field.required && !seen.has(field.id)) throw new Error(`the field ${field.name} is missing`);
  }
}

interface ReadPosition {
  readonly reader: protobuf.Reader;
  readonly depth: number;
}

function checkField(field: protobuf.Field, wireType: number, { reader, depth }: ReadPosition): void {
  const packed = field.repeated && wireType === BYTES && PACKABLE[field.type] !== undefined;
  const message = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
  const wanted = field.map || message ? BYTES : (WIRE_TYPES[field.type] ?? 0);
  if (!packed && wireType !== wanted) {
    throw new Error(`the field ${field.name} has wire type ${wireType} instead of ${wanted}`);
  }
  if (wireType !== BYTES) {
    reader.skipType(wireType);
    return;
  }
  const value = reader.bytes();
  if (message && !field.map) checkBinary(message, value, depth + 1);
  else if (packed) checkPacked(field, value);
  else if (field.type === 'string' && !field.map) {
    new TextDecoder('utf-8', { fatal: true }).decode(value);
  }
}

function checkPacked(field: protobuf.Field, bytes: Uint8Array): void {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) reader.skipType(WIRE_TYPES[field.type] ?? 0);
}
