/**
 * Makes an example of a value that a JSON Schema accepts: its default, its first example, or one made from its types, formats and
 * limits. Pure.
 */
import { matchingText } from './matching-text.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A recursive schema ends at this depth. */
const MAX_DEPTH = 8;
/** Maximum of items, and of characters that lengthen a word. A schema that requires more has no example. */
const MAX_ITEMS = 100;
const MAX_CHARS = 2_000;

/** By the `format` of a text. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  uri: 'https://example.com',
  uuid: '3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b',
  guid: '3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b',
  'date-time': '2026-01-31T08:00:00Z',
  date: '2026-01-31',
  time: '08:00:00',
  duration: 'P1D',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidrv4: '192.0.2.0/24',
  cidrv6: '2001:db8::/32',
  hostname: 'example.com',
  base64: 'ZXhhbXBsZQ==',
  base64url: 'ZXhhbXBsZQ',
  e164: '+4930123456',
};

/**
 * Undefined if no example is known. Optional members and items without an example are left out.
 *
 * @param root the schema of which `schema` is a part, for references
 */
export function exampleOf(schema: unknown, root: unknown = schema): unknown {
  return made(schema, { root, depth: 0 });
}

interface SchemaPlace {
  readonly root: unknown;
  readonly depth: number;
}

function made(schema: unknown, place: SchemaPlace): unknown {
  if (!isSchema(schema) || place.depth > MAX_DEPTH) return schema === true ? 'example' : undefined;
  const { default: usual, examples, const: only, enum: choices, $ref, anyOf, oneOf, allOf } = schema;
  if (usual !== undefined) return usual;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  const inner = { ...place, depth: place.depth + 1 };
  if (typeof $ref === 'string') return made(referredTo($ref, place.root), inner);
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (options) return firstOf(options, inner);
  if (Array.isArray(allOf)) return allOfThem(allOf, inner);
  return ofType(schema, inner);
}

/** `null` stands for a missing value, so it is the last choice. */
function firstOf(options: readonly unknown[], place: SchemaPlace): unknown {
  const all = options.map((option) => made(option, place)).filter((one) => one !== undefined);
  return all.find((one) => one !== null) ?? all[0];
}

function allOfThem(schemas: readonly unknown[], place: SchemaPlace): unknown {
  const all = schemas.map((one) => made(one, place));
  if (all.every(isSchema)) return Object.assign({}, ...all);
  return all.find((one) => one !== undefined);
}

function ofType(schema: JsonSchema, place: SchemaPlace): unknown {
  const { type } = schema;
  const named = Array.isArray(type) ? (type.find((one) => one !== 'null') ?? 'null') : type;
  switch (named) {
    case 'string':
      return textOf(schema);
    case 'number':
    case 'integer':
      return numberOf(schema, named === 'integer');
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return listOf(schema, place);
    case 'object':
      return objectOf(schema, place);
    default:
      // `not` is how a schema accepts nothing.
      return schema.not === undefined ? 'example' : undefined;
  }
}

function textOf({ format, pattern, minLength, maxLength }: JsonSchema): string | undefined {
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  if (least > MAX_CHARS) return undefined;
  const fits = (text: string | undefined) =>
    text !== undefined &&
    text.length >= least &&
    text.length <= most &&
    (typeof pattern !== 'string' || isMatched(pattern, text));
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  const word = 'example '
    .repeat(Math.ceil(Math.max(1, least) / 8))
    .trim()
    .padEnd(least, 'e');
  const candidates = [
    known,
    word.slice(0, Math.min(most, Math.max(least, 'example'.length))),
    typeof pattern === 'string' ? matchingText(pattern) : undefined,
  ];
  return candidates.find(fits);
}

function isMatched(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}

function numberOf(schema: JsonSchema, isWhole: boolean): number | undefined {
  const limit = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  const [least, above] = [limit('minimum'), limit('exclusiveMinimum')];
  const [most, below] = [limit('maximum'), limit('exclusiveMaximum')];
  const step = limit('multipleOf') ?? (isWhole ? 1 : undefined);
  const from = Math.max(least ?? Number.NEGATIVE_INFINITY, above ?? Number.NEGATIVE_INFINITY);
  const to = Math.min(most ?? Number.POSITIVE_INFINITY, below ?? Number.POSITIVE_INFINITY);
  const fits = (value: number) =>
    Number.isFinite(value) &&
    (least === undefined || value >= least) &&
    (above === undefined || value > above) &&
    (most === undefined || value <= most) &&
    (below === undefined || value < below) &&
    (!isWhole || Number.isInteger(value)) &&
    (step === undefined || Number.isInteger(value / step));
  const near =
    step === undefined ? [] : [Math.ceil(from / step) * step, (Math.floor(from / step) + 1) * step];
  const candidates = [1, step ?? 1, 10, 100, 0, from, from + 1, ...near, (from + to) / 2, to, to - 1];
  return candidates.find(fits);
}

function listOf({ items, prefixItems, minItems, maxItems }: JsonSchema, place: SchemaPlace): unknown {
  const first = Array.isArray(prefixItems) ? prefixItems.map((one) => made(one, place)) : [];
  if (first.includes(undefined)) return undefined;
  const least = Math.max(
    first.length === 0 ? 1 : 0,
    typeof minItems === 'number' ? minItems - first.length : 0,
  );
  const most = typeof maxItems === 'number' ? maxItems - first.length : MAX_ITEMS;
  if (least > MAX_ITEMS) return undefined;
  const item = items === undefined || items === false ? undefined : made(items, place);
  if (item === undefined) return typeof minItems === 'number' && minItems > first.length ? undefined : first;
  return [...first, ...Array.from({ length: Math.min(least, most) }, () => item)];
}

function objectOf(schema: JsonSchema, place: SchemaPlace): unknown {
  const { properties, additionalProperties, propertyNames, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const members = isSchema(properties)
    ? Object.entries(properties)
    : namesOf(propertyNames, needed, place).map((name) => [name, additionalProperties] as const);
  const value: Record<string, unknown> = {};
  for (const [name, member] of members) {
    const one = made(member, place);
    if (one !== undefined) Object.defineProperty(value, name, { value: one, enumerable: true });
    // A recursive list ends where an item would need a member beyond the depth limit.
    else if (needed.includes(name) && place.depth > 1) return undefined;
  }
  return value;
}

/** Names of the members of a record. */
function namesOf(schema: unknown, required: readonly unknown[], place: SchemaPlace): readonly string[] {
  if (required.length > 0) return required.filter((name) => typeof name === 'string');
  const name = schema === undefined ? 'key' : made(schema, place);
  return typeof name === 'string' ? [name] : [];
}

function referredTo(reference: string, root: unknown): unknown {
  const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return path.reduce<unknown>(
    (at, part) => (isSchema(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
