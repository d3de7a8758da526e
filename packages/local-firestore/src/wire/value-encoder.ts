/** Encodes values of the model as `google.firestore.v1.Value`. */
import protobuf from 'protobufjs';
import type { Fields, Value } from '../model/value.ts';

export function encodeValue(value: Value): Buffer {
  const writer = protobuf.Writer.create();
  writeValue(writer, value);
  return Buffer.from(writer.finish());
}

/** Writes `fields` as a protobuf map under the given tag (`(field << 3) | 2`). */
export function writeFields(writer: protobuf.Writer, fields: Fields, tag: number): void {
  for (const [key, value] of fields) {
    writer.uint32(tag).fork().uint32(10).string(key).uint32(18).fork();
    writeValue(writer, value);
    writer.ldelim().ldelim();
  }
}

function writeValue(writer: protobuf.Writer, value: Value): void {
  switch (value.kind) {
    case 'null':
      writer.uint32(88).int32(0);
      return;
    case 'boolean':
      writer.uint32(8).bool(value.value);
      return;
    case 'integer':
      writer.uint32(16);
      writeInt64(writer, value.value);
      return;
    case 'double':
      writer.uint32(25).double(value.value);
      return;
    case 'timestamp':
      writer.uint32(82).fork().uint32(8).int64(value.seconds).uint32(16).int32(value.nanos).ldelim();
      return;
    case 'string':
      writer.uint32(138).string(value.value);
      return;
    case 'bytes':
      writer.uint32(146).bytes(value.value);
      return;
    case 'reference':
      writer.uint32(42).string(value.value);
      return;
    case 'geo':
      writer.uint32(66).fork().uint32(9).double(value.latitude).uint32(17).double(value.longitude).ldelim();
      return;
    case 'array':
      writer.uint32(74).fork();
      for (const element of value.values) {
        writer.uint32(10).fork();
        writeValue(writer, element);
        writer.ldelim();
      }
      writer.ldelim();
      return;
    case 'map':
      writer.uint32(50).fork();
      writeFields(writer, value.fields, 10);
      writer.ldelim();
      return;
  }
}

function writeInt64(writer: protobuf.Writer, value: bigint): void {
  const safe = Number(value);
  if (Number.isSafeInteger(safe)) {
    writer.int64(safe);
    return;
  }
  const bits = BigInt.asUintN(64, value);
  // The writer takes a 64-bit number as an object of both halves.
  writer.int64({
    low: Number(BigInt.asIntN(32, bits)),
    high: Number(BigInt.asIntN(32, bits >> 32n)),
  } as never);
}
