/**
 * Validates a JSON value against a protobuf type by the JSON mapping: fields by name or by `json_name` (default: the name in
 * camel case); 64-bit integers as numbers or text, enums by name or number, bytes in base64. Refuses unknown fields, as the
 * mapping requires.
 */
import protobuf from 'protobufjs';
import { entriesOf } from './json.ts';

const INTEGERS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  ...of(['int32', 'sint32', 'sfixed32'], [-(2n ** 31n), 2n ** 31n - 1n]),
  ...of(['uint32', 'fixed32'], [0n, 2n ** 32n - 1n]),
  ...of(['int64', 'sint64', 'sfixed64'], [-(2n ** 63n), 2n ** 63n - 1n]),
  ...of(['uint64', 'fixed64'], [0n, 2n ** 64n - 1n]),
};
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** Text of a number with a fraction or an exponent. */
const DECIMAL = /^-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/;
const FLOAT = /^(?:NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** @throws Error with the problem and its place */
export function checkJson(type: protobuf.Type, value: unknown, path = 'the message'): void {
  const fields = new Map(
    type.fieldsArray.flatMap((field) => [
      [field.name, field],
      [jsonName(field), field],
    ]),
  );
  const seen = new Set<protobuf.Field>();
  const chosen = new Set<protobuf.OneOf>();
  for (const [name, member] of entriesOf(value, path)) {
    const field = fields.get(name);
    if (field === undefined) throw new Error(`${path} has an unknown field '${name.slice(0, 100)}'`);
    if (seen.has(field)) throw new Error(`${path} has the field '${field.name}' twice`);
    if (member === null) continue;
    seen.add(field);
    const choice = field.partOf;
    if (choice && chosen.has(choice)) throw new Error(`${path} has several fields of '${choice.name}'`);
    if (choice) chosen.add(choice);
    checkField(field, member, `'${field.name}'`);
  }
  for (const field of type.fieldsArray) {
    if (field.required && !seen.has(field)) throw new Error(`${path} has no field '${field.name}'`);
  }
}

function checkField(field: protobuf.Field, value: unknown, path: string): void {
  if (field instanceof protobuf.MapField) {
    for (const [key, member] of entriesOf(value, path)) {
      checkKey(field.keyType, key, path);
      checkValue(field, member, path);
    }
  } else if (field.repeated) {
    if (!Array.isArray(value)) throw new Error(`${path} must be a list`);
    for (const element of value) checkValue(field, element, path);
  } else checkValue(field, value, path);
}

function checkKey(type: string, key: string, path: string): void {
  if (type === 'bool' && key !== 'true' && key !== 'false') throw new Error(`a key of ${path} is not a bool`);
  if (type in INTEGERS) checkScalar(type, key, path);
}

function checkValue(field: protobuf.Field, value: unknown, path: string): void {
  const type = field.resolvedType;
  if (type instanceof protobuf.Type) checkJson(type, value, path);
  else if (type instanceof protobuf.Enum) checkEnum(type, value, path);
  else checkScalar(field.type, value, path);
}

function checkEnum(type: protobuf.Enum, value: unknown, path: string): void {
  const known = typeof value === 'string' ? Object.hasOwn(type.values, value) : isScalar('int32', value);
  if (!known) throw new Error(`${path} is not a value of ${type.name}`);
}

function checkScalar(type: string, value: unknown, path: string): void {
  if (!isScalar(type, value)) throw new Error(`${path} is not of type ${type}`);
}

function isScalar(type: string, value: unknown): boolean {
  if (type === 'string') return typeof value === 'string' && value.isWellFormed();
  if (type === 'bool') return typeof value === 'boolean';
  if (type === 'bytes') return typeof value === 'string' && BASE64.test(value);
  if (type === 'float' || type === 'double') {
    return (
      Number.isFinite(value) || typeof value === 'bigint' || (typeof value === 'string' && FLOAT.test(value))
    );
  }
  const integer = integerOf(value);
  const [least, most] = INTEGERS[type] ?? [0n, -1n];
  return integer !== undefined && integer >= least && integer <= most;
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string') {
    if (/^-?\d{1,20}$/.test(value)) return BigInt(value);
    return DECIMAL.test(value) ? integerOf(Number(value)) : undefined;
  }
  return Number.isInteger(value) ? BigInt(value as number) : undefined;
}

export const jsonName = ({ name, options }: protobuf.Field): string =>
  options?.json_name ?? name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());

function of<T>(types: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(types.map((type) => [type, value]));
}
