/**
 * Checks the options of a protobuf definition. Only options that protobuf declares are allowed, each with a value of its type, because
 * custom options need an import, which a schema cannot have.
 */
import { createRequire } from 'node:module';
import protobuf from 'protobufjs';

type OptionScope = 'File' | 'Message' | 'Field' | 'Oneof' | 'Enum' | 'EnumValue' | 'Service' | 'Method';
type Options = Readonly<Record<string, unknown>>;

/** Pseudo options: parts of the language, and the one that protobufjs adds for `optional`. */
const PART_OF_FIELDS = new Set(['default', 'json_name', 'proto3_optional']);
const FEATURES = 'features';
/** Protobuf's own description of itself, as protobufjs ships it. */
const DESCRIPTOR = 'protobufjs/google/protobuf/descriptor.json';

const require = createRequire(import.meta.url);
let descriptor: protobuf.Root | undefined;

/** @throws Error with the first option that is unknown or has a wrong value */
export function requireOptions(scope: OptionScope, name: string, options: Options | null | undefined): void {
  for (const [option, value] of Object.entries(options ?? {})) {
    if (scope === 'Field' && PART_OF_FIELDS.has(option)) continue;
    if (option === FEATURES || option.startsWith(`${FEATURES}.`)) continue;
    const field = declared(scope).get(option);
    if (field === undefined) throw new Error(`${name} has the unknown option ${option}`);
    if (!fits(field, value)) throw new Error(`the option ${option} of ${name} has a wrong value`);
  }
}

function declared(scope: OptionScope): Map<string, protobuf.Field> {
  descriptor ??= loadDescriptor();
  const { fieldsArray } = descriptor.lookupType(`google.protobuf.${scope}Options`);
  return new Map(fieldsArray.map((field) => [snakeCase(field.name), field]));
}

function loadDescriptor(): protobuf.Root {
  const root = protobuf.Root.fromJSON(require(DESCRIPTOR) as protobuf.INamespace);
  root.resolveAll();
  return root;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function fits(field: protobuf.Field, value: unknown): boolean {
  if (field.type === 'bool') return typeof value === 'boolean';
  if (field.type === 'string') return typeof value === 'string';
  const type = field.resolvedType;
  return !(type instanceof protobuf.Enum) || Object.hasOwn(type.values, String(value));
}
