/**
 * Rules of the protobuf language that protobufjs does not check, so that a definition that production refuses is not
 * accepted here.
 */
import protobuf from 'protobufjs';

const MAX_FIELD_NUMBER = 2 ** 29 - 1;
/** Field numbers that protobuf keeps for itself. */
const RESERVED_NUMBERS = { least: 19_000, most: 19_999 };

/** @throws Error with the first rule that the message or a type in it breaks */
export function requireRules(message: protobuf.Type, proto3: boolean): void {
  for (const field of message.fieldsArray) requireField(message, field, proto3);
  for (const { name, fieldsArray } of message.oneofsArray) {
    if (fieldsArray.length === 0) throw new Error(`the oneof ${name} has no fields`);
  }
  for (const nested of message.nestedArray) {
    if (nested instanceof protobuf.Type) requireRules(nested, proto3);
    if (nested instanceof protobuf.Enum) requireEnum(nested, proto3);
  }
}

function requireField(message: protobuf.Type, field: protobuf.Field, proto3: boolean): void {
  const { name, id } = field;
  const ofProtobuf = id >= RESERVED_NUMBERS.least && id <= RESERVED_NUMBERS.most;
  if (id < 1 || id > MAX_FIELD_NUMBER || ofProtobuf) {
    throw new Error(`the field ${name} has the number ${id}, which protobuf does not allow`);
  }
  const reserved = (message.reserved ?? []).some(
    (range) => Array.isArray(range) && id >= (range[0] as number) && id <= (range[1] as number),
  );
  if (reserved) throw new Error(`the field ${name} has the reserved number ${id}`);
  if (proto3 && field.options?.default !== undefined) {
    throw new Error(`the field ${name} has a default, which proto3 does not allow`);
  }
}

function requireEnum({ name, values }: protobuf.Enum, proto3: boolean): void {
  const [first, ...others] = Object.values(values);
  if (first === undefined) throw new Error(`the enum ${name} has no values`);
  if (proto3 && first !== 0) throw new Error(`the first value of the enum ${name} is not 0`);
  if ([first, ...others].some((value) => (value | 0) !== value)) {
    throw new Error(`the enum ${name} has a value of more than 32 bits`);
  }
}
