/**
 * Checks rules of the protobuf language that protobufjs does not check, so that definitions that production refuses are refused
 * here too.
 */
import protobuf from 'protobufjs';
import { jsonName } from './protobuf-json.ts';
import { requireOptions } from './protobuf-options.ts';

const MAX_FIELD_NUMBER = 2 ** 29 - 1;
/** Field numbers that protobuf reserves. */
const RESERVED_NUMBERS = { least: 19_000, most: 19_999 };

/** @throws Error with the first violated rule */
export function requireRules(namespace: protobuf.NamespaceBase, proto3: boolean): void {
  requireUniqueNames(namespace);
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type) requireMessage(nested, proto3);
    else if (nested instanceof protobuf.Enum) requireEnum(nested, proto3);
    else if (nested instanceof protobuf.Service) requireService(nested);
    else if (nested instanceof protobuf.Field) requireExtension(nested, proto3);
    else if (nested instanceof protobuf.Namespace) {
      // Options of a file with a package.
      requireOptions('File', nested.name, nested.options);
      requireRules(nested, proto3);
    }
  }
}

/** Enum values belong to the scope that contains the enum. */
function requireUniqueNames(namespace: protobuf.NamespaceBase): void {
  const ofMessage =
    namespace instanceof protobuf.Type ? [...namespace.fieldsArray, ...namespace.oneofsArray] : [];
  const values = namespace.nestedArray.flatMap((nested) =>
    nested instanceof protobuf.Enum ? Object.keys(nested.values) : [],
  );
  const names = [...ofMessage, ...namespace.nestedArray].map(({ name }) => name);
  const repeated = firstRepeated([...names, ...values]);
  if (repeated !== undefined) throw new Error(`${repeated} is defined twice in the same scope`);
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated;
  });
}

function requireMessage(message: protobuf.Type, proto3: boolean): void {
  requireOptions('Message', message.name, message.options);
  if (proto3 && isGroup(message)) throw new Error(`proto3 has no groups, as ${message.name} is one`);
  if (proto3 && message.extensions?.length) throw new Error('proto3 has no extension ranges');
  for (const field of message.fieldsArray) requireField(message, field, proto3);
  const repeated = proto3 ? firstRepeated(message.fieldsArray.map(jsonName)) : undefined;
  if (repeated !== undefined) throw new Error(`two fields have the name ${repeated} in JSON`);
  for (const { name, fieldsArray, options } of message.oneofsArray) {
    if (fieldsArray.length === 0) throw new Error(`the oneof ${name} has no fields`);
    requireOptions('Oneof', name, options);
  }
  requireRules(message, proto3);
}

/** protobufjs has this member but does not declare it. */
const isGroup = (message: protobuf.Type) => (message as { group?: boolean }).group === true;

function requireField(message: protobuf.Type, field: protobuf.Field, proto3: boolean): void {
  const { name, id, options, repeated, type } = field;
  requireOptions('Field', name, options);
  if (isPacked(field) && !(repeated && isPackable(field))) {
    throw new Error(`the field ${name} is packed, which ${repeated ? type : 'a single value'} cannot be`);
  }
  const ofProtobuf = id >= RESERVED_NUMBERS.least && id <= RESERVED_NUMBERS.most;
  if (id < 1 || id > MAX_FIELD_NUMBER || ofProtobuf) {
    throw new Error(`the field ${name} has the number ${id}, which protobuf does not allow`);
  }
  if (within(message.reserved, id)) throw new Error(`the field ${name} has the reserved number ${id}`);
  if (proto3 && options?.default !== undefined) {
    throw new Error(`the field ${name} has a default, which proto3 does not allow`);
  }
}

/** Reads the option as written, because protobufjs drops it where it has no effect. */
function isPacked({ parsedOptions }: protobuf.Field): boolean {
  return ((parsedOptions ?? []) as { packed?: unknown }[]).some(({ packed }) => packed === true);
}

function isPackable({ type, resolvedType }: protobuf.Field): boolean {
  return resolvedType instanceof protobuf.Enum || type in protobuf.types.packed;
}

function within(ranges: readonly (string | readonly number[])[] | undefined, id: number): boolean {
  return (ranges ?? []).some(
    (range) => Array.isArray(range) && id >= (range[0] as number) && id <= (range[1] as number),
  );
}

function requireExtension({ name, id, extend, parent }: protobuf.Field, proto3: boolean): void {
  if (proto3) throw new Error('proto3 has no extensions');
  const extended = parent?.lookupType(extend ?? '');
  if (!within(extended?.extensions, id)) throw new Error(`${extend} has no place for the extension ${name}`);
}

function requireEnum({ name, values, options, valuesOptions }: protobuf.Enum, proto3: boolean): void {
  requireOptions('Enum', name, options);
  for (const [value, given] of Object.entries(valuesOptions ?? {})) requireOptions('EnumValue', value, given);
  const [first, ...others] = Object.values(values);
  if (first === undefined) throw new Error(`the enum ${name} has no values`);
  if (proto3 && first !== 0) throw new Error(`the first value of the enum ${name} is not 0`);
  if ([first, ...others].some((value) => (value | 0) !== value)) {
    throw new Error(`the enum ${name} has a value of more than 32 bits`);
  }
}

function requireService(service: protobuf.Service): void {
  requireOptions('Service', service.name, service.options);
  for (const { name, options } of service.methodsArray) requireOptions('Method', name, options);
}
