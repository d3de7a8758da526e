/**
 * Validates a JSON value against an Avro type by Avro's JSON encoding. Stricter than avsc's reader, which fills in defaults, accepts
 * any value for a record without fields, and accepts names of `Object.prototype` as symbols.
 */
import type { AvroShape } from './avro-shape.ts';
import { entriesOf } from './json.ts';

const INTEGER_BITS: Readonly<Record<string, number>> = { int: 32, long: 64, 'abstract:long': 64 };

/** @throws Error with the problem and its place */
export function checkAvroJson(type: AvroShape, value: unknown, path = 'the message'): void {
  const refuse = (reason: string) => new Error(`${path} ${reason}`);
  switch (type.typeName) {
    case 'null':
      if (value !== null) throw refuse('is not null');
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw refuse('is not of type boolean');
      return;
    case 'int':
    case 'long':
    case 'abstract:long':
      if (!isInteger(value, INTEGER_BITS[type.typeName] ?? 0)) throw refuse(`is not of type ${nameOf(type)}`);
      return;
    case 'float':
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        throw refuse(`is not of type ${nameOf(type)}`);
      return;
    case 'bytes':
    case 'string':
      if (typeof value !== 'string') throw refuse(`is not of type ${nameOf(type)}`);
      return;
    case 'fixed':
      if (typeof value !== 'string' || value.length !== type.size) throw refuse(`has not ${type.size} bytes`);
      return;
    case 'enum':
      if (typeof value !== 'string' || !type.symbols?.includes(value))
        throw refuse('is not a symbol of the enum');
      return;
    case 'array':
      if (!Array.isArray(value)) throw refuse('is not a list');
      for (const item of value) checkAvroJson(type.itemsType as AvroShape, item, path);
      return;
    case 'map':
      for (const [key, member] of entriesOf(value, path)) {
        checkAvroJson(type.valuesType as AvroShape, member, `'${key.slice(0, 100)}'`);
      }
      return;
    case 'record':
    case 'error':
      checkRecord(type, value, path);
      return;
    default:
      // Unions, of which avsc has two kinds.
      checkUnion(type.types ?? [], value, path);
  }
}

/** Ignores unknown fields. Fields with a default are required too, because defaults are for readers with other schemas. */
function checkRecord({ fields = [] }: AvroShape, value: unknown, path: string): void {
  const members = new Map(entriesOf(value, path));
  for (const { name, type } of fields) {
    if (!members.has(name)) throw new Error(`${path} has no field '${name}'`);
    checkAvroJson(type, members.get(name), `'${name}'`);
  }
}

/** A value other than null is an object with the branch as its only member. */
function checkUnion(branches: readonly AvroShape[], value: unknown, path: string): void {
  if (value === null && branches.some(({ typeName }) => typeName === 'null')) return;
  const names = branches.map((branch) => `"${nameOf(branch)}"`).join(',');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${path} is not a branch of [${names}]`);
  }
  const [[name, member] = [], ...more] = Object.entries(value);
  const branch = branches.find((one) => one.typeName !== 'null' && nameOf(one) === name);
  if (branch === undefined || more.length > 0) throw new Error(`${path} is not one branch of [${names}]`);
  checkAvroJson(branch, member, path);
}

const nameOf = ({ branchName, typeName }: AvroShape) => branchName ?? typeName;

function isInteger(value: unknown, bits: number): boolean {
  const integer = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
  return typeof integer === 'bigint' && BigInt.asIntN(bits, integer) === integer;
}
