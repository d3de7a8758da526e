/**
 * The JSON form of protobuf messages (protobuf.dev/programming-guides/json), by the reflection of a loaded protocol.
 * `fromJson` returns a value for `Type.fromObject`; `toJson` takes a decoded message. Owns only the mapping; knows no
 * transport.
 */
import protobuf from 'protobufjs';

/** The limit of protobuf's own parsers; it also prevents a stack overflow. */
const MAX_DEPTH = 100;

/** The message is for the caller. */
export class JsonShapeError extends Error {}

type JsonText = unknown;
type JsonFields = Readonly<Record<string, JsonText>>;

export function fromJson(type: protobuf.Type, json: JsonText, depth = 0): object {
  if (depth > MAX_DEPTH) throw new JsonShapeError(`The message nests deeper than ${MAX_DEPTH} levels.`);
  const special = SPECIAL[type.fullName];
  if (special) return special.read(json, depth);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new JsonShapeError(`${type.name} must be an object.`);
  }
  const message: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(json)) {
    const field = fieldOf(type, key);
    // Null is a value of one enum only; elsewhere it means "not set".
    if (value === null && !isNullValue(field)) continue;
    if (field.partOf?.oneof.some((other) => Object.hasOwn(message, other))) {
      throw new JsonShapeError(`${type.name}.${field.partOf.name} is set twice, also by "${key}".`);
    }
    message[field.name] = readField(field, value, depth);
  }
  return message;
}

/** Omits members with default values that cannot be distinguished from unset ones, as protobuf's printers do. */
export function toJson(type: protobuf.Type, message: object): JsonText {
  const special = SPECIAL[type.fullName];
  if (special) return special.write(message as JsonFields);
  const json: Record<string, JsonText> = {};
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const value = (message as JsonFields)[field.name];
    if (isDefault(field.resolve(), value)) continue;
    if (field.map) {
      const entries = Object.entries(value as object).map(([key, one]) => [key, writeValue(field, one)]);
      json[field.name] = Object.fromEntries(entries);
    } else if (field.repeated) {
      json[field.name] = (value as unknown[]).map((one) => writeValue(field, one));
    } else {
      json[field.name] = writeValue(field, value);
    }
  }
  return json;
}

/** True if the JSON of the type is not an object of its fields; a timestamp, for example, is a text. */
export function hasJsonOfItsOwn(type: protobuf.Type): boolean {
  return Object.hasOwn(SPECIAL, type.fullName);
}

/** Finds a field by its JSON name or its name in the protocol. @throws JsonShapeError */
export function fieldOf(type: protobuf.Type, key: string): protobuf.Field {
  const name = camelCase(key);
  const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
  if (!field)
    throw new JsonShapeError(`Invalid JSON payload received. Unknown name "${key}" in ${type.name}.`);
  return field.resolve();
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function readField(field: protobuf.Field, value: JsonText, depth: number): unknown {
  if (field.map) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new JsonShapeError(`"${field.name}" must be an object.`);
    }
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, readValue(field, one, depth)]));
  }
  if (!field.repeated) return readValue(field, value, depth);
  if (!Array.isArray(value)) throw new JsonShapeError(`"${field.name}" must be a list.`);
  return value.map((one) => readValue(field, one, depth));
}

function readValue(field: protobuf.Field, value: JsonText, depth: number): unknown {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Type) return fromJson(resolvedType, value, depth + 1);
  if (resolvedType) return readEnum(field, resolvedType, value);
  const wrong = (what: string) => new JsonShapeError(`"${field.name}" must be ${what}.`);
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') throw wrong('a text');
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw wrong('true or false');
      return value;
    case 'bytes':
      if (typeof value !== 'string' || !/^[\w+/-]*={0,2}$/.test(value)) throw wrong('bytes in base64');
      return Buffer.from(value, 'base64');
    case 'double':
    case 'float':
      if (typeof value === 'number' || NON_FINITE.has(value as string)) return Number(value);
      if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
        return Number(value);
      throw wrong('a number');
    default:
      if (/^-?\d+$/.test(String(value)) && isInRange(field.type, BigInt(value as string)))
        return String(value);
      throw wrong(`a whole number (${field.type})`);
  }
}

const NON_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

function isInRange(type: string, value: bigint): boolean {
  const bits = type.endsWith('64') ? 64 : 32;
  return (/^u|^fixed/.test(type) ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value)) === value;
}

function readEnum(field: protobuf.Field, type: protobuf.Enum, value: JsonText): number {
  if (isNullValue(field)) return 0;
  const known = typeof value === 'string' ? type.values[value] : value;
  if (typeof known !== 'number')
    throw new JsonShapeError(`"${field.name}" cannot be ${JSON.stringify(value)}.`);
  return known;
}

function isNullValue({ resolvedType }: protobuf.Field): boolean {
  return resolvedType?.fullName === '.google.protobuf.NullValue';
}

function isDefault(field: protobuf.Field, value: unknown): boolean {
  if (field.map) return Object.keys(value as object).length === 0;
  if (field.repeated) return (value as unknown[]).length === 0;
  if (field.partOf || field.resolvedType instanceof protobuf.Type) return false;
  if (field.type === 'bytes') return (value as Uint8Array).length === 0;
  if (typeof value === 'object') return String(value) === '0';
  return value === '' || value === false || Object.is(value, 0);
}

function writeValue(field: protobuf.Field, value: unknown): JsonText {
  const { resolvedType } = field.resolve();
  if (resolvedType instanceof protobuf.Type) return toJson(resolvedType, value as object);
  if (resolvedType) return isNullValue(field) ? null : (resolvedType.valuesById[value as number] ?? value);
  if (field.type === 'bytes') return Buffer.from(value as Uint8Array).toString('base64');
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  // A text, because JSON.stringify drops the sign; protobuf's parsers accept numbers as texts too.
  if (Object.is(value, -0)) return '-0';
  // 64-bit integers are texts in JSON and objects in protobufjs.
  return typeof value === 'object' ? String(value) : value;
}

interface Special {
  read(json: JsonText, depth: number): object;
  write(message: JsonFields): JsonText;
}

/** `google.protobuf.*Value`: only the value. */
function wrapper(scalar: string): Special {
  const field = new protobuf.Field('value', 1, scalar);
  return {
    read: (json, depth) => ({ value: readValue(field, json, depth) }),
    write: ({ value }) => writeValue(field, value ?? (scalar === 'bool' ? false : 0)),
  };
}

const TIME = /^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;
const DURATION = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/;

const SPECIAL: Readonly<Record<string, Special>> = {
  '.google.protobuf.Timestamp': {
    read(json) {
      const [, seconds = '', fraction = '', zone = ''] = TIME.exec(String(json)) ?? [];
      const ms = Date.parse(`${seconds}${zone.toUpperCase()}`);
      if (!Number.isFinite(ms))
        throw new JsonShapeError(`${JSON.stringify(json)} is not an RFC 3339 timestamp.`);
      return { seconds: ms / 1000, nanos: Number(fraction.padEnd(9, '0')) };
    },
    write: ({ seconds, nanos }) =>
      `${new Date(Number(seconds ?? 0) * 1000).toISOString().slice(0, 19)}${fractionOf(nanos)}Z`,
  },
  '.google.protobuf.Duration': {
    read(json) {
      const [, sign, seconds, fraction = ''] = DURATION.exec(String(json)) ?? [];
      if (seconds === undefined)
        throw new JsonShapeError(`${JSON.stringify(json)} is not a duration such as "1.5s".`);
      const factor = sign ? -1 : 1;
      return { seconds: factor * Number(seconds), nanos: factor * Number(fraction.padEnd(9, '0')) };
    },
    write: ({ seconds, nanos }) => `${Number(seconds ?? 0)}${fractionOf(nanos)}s`,
  },
  // A text of paths in camel case; in protobuf a list in snake case.
  '.google.protobuf.FieldMask': {
    read(json) {
      if (typeof json !== 'string')
        throw new JsonShapeError('A field mask must be a text such as "labels,state".');
      const paths = json.split(',').filter((path) => path !== '');
      return { paths: paths.map((path) => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) };
    },
    write: ({ paths }) => ((paths as string[] | undefined) ?? []).map(camelCase).join(','),
  },
  '.google.protobuf.Int32Value': wrapper('int32'),
  '.google.protobuf.Int64Value': wrapper('int64'),
  '.google.protobuf.DoubleValue': wrapper('double'),
  '.google.protobuf.BoolValue': wrapper('bool'),
  '.google.protobuf.Struct': {
    read() {
      throw new JsonShapeError('google.protobuf.Struct is supported only in responses.');
    },
    write: ({ fields }) => plainStruct(fields as JsonFields | undefined),
  },
};

/** 0, 3, 6 or 9 digits, as the mapping requires. */
function fractionOf(nanos: unknown): string {
  const digits = String(nanos ?? 0).padStart(9, '0');
  const shown = digits.replace(/(?:000){1,3}$/, '');
  return shown === '' ? '' : `.${shown}`;
}

function plainStruct(fields: JsonFields | undefined): Record<string, JsonText> {
  return Object.fromEntries(
    Object.entries(fields ?? {}).map(([key, value]) => [key, plain(value as JsonFields)]),
  );
}

function plain(value: JsonFields): JsonText {
  if (value.structValue) return plainStruct((value.structValue as { fields?: JsonFields }).fields);
  if (value.listValue) return ((value.listValue as { values?: JsonFields[] }).values ?? []).map(plain);
  return value.stringValue ?? value.numberValue ?? value.boolValue ?? null;
}
