/**
 * A form made of a JSON Schema: its fields, the value of the typed text, and all its issues at once. Pure. Members without a
 * field of their kind are typed as JSON. The API validates the whole value.
 */

import { exampleOf } from '@cairn/client';
import { isObject } from '../json-view/json-text.ts';

type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** Empty unless the field is a choice. */
  readonly choices: readonly string[];
  readonly description: string | undefined;
  /** The initial text; may be empty. */
  readonly initial: string;
  /** The text of a value that the schema accepts; may be empty. */
  readonly example: string;
}

/** Typed values by field name. */
export type Typed = Readonly<Record<string, string>>;

export interface FieldIssue {
  readonly name: string;
  readonly why: string;
}

type FormValue =
  | { readonly kind: 'value'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'issues'; readonly issues: readonly FieldIssue[] };

/** A schema with more members has no form. */
export const MAX_FIELDS = 30;

interface Schema {
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: unknown;
  readonly description?: unknown;
}

/**
 * Undefined if the schema is not an object with a few members. The input is then typed as JSON.
 *
 * @param root the schema that contains this one, for references
 */
export function fieldsOf(schema: unknown, root: unknown = schema): readonly Field[] | undefined {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties)) return undefined;
  const members = Object.entries(schema.properties);
  if (members.length === 0 || members.length > MAX_FIELDS) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return members.map(([name, member]) => {
    const one: Schema = isObject(member) ? member : {};
    const choices = choicesOf(one);
    const kind = choices.length > 0 ? 'choice' : kindOf(one);
    // A member with a default may be left out, even if the schema lists it as required.
    return {
      name,
      kind,
      isRequired: required.includes(name) && one.default === undefined,
      choices,
      description: typeof one.description === 'string' ? one.description : undefined,
      initial: typedOf(one.default ?? firstOf(one.examples), kind),
      example: typedOf(exampleOf(one, root), kind),
    };
  });
}

/** The texts of the fields for an input. Undefined if it is not an object, or has members without a field. */
export function typedFrom(fields: readonly Field[], input: unknown): Typed | undefined {
  if (!isObject(input)) return undefined;
  const names = new Set(fields.map(({ name }) => name));
  if (Object.keys(input).some((name) => !names.has(name))) return undefined;
  return Object.fromEntries(
    fields.map(({ name, kind }) => [
      name,
      typedOf(Object.hasOwn(input, name) ? input[name] : undefined, kind),
    ]),
  );
}

export function initialOf(fields: readonly Field[]): Typed {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

/** Fills the required empty fields with their examples. */
export function withExamples(fields: readonly Field[], typed: Typed): Typed {
  const filled = fields
    .filter(({ name, isRequired }) => isRequired && !typed[name])
    .map(({ name, example }) => [name, example] as const);
  return { ...typed, ...Object.fromEntries(filled) };
}

/** Empty fields are left out of the value. */
export function formValue(fields: readonly Field[], typed: Typed): FormValue {
  const value: Record<string, unknown> = {};
  const issues: FieldIssue[] = [];
  for (const field of fields) {
    const text = typed[field.name] ?? '';
    if (text === '') {
      if (field.isRequired) issues.push({ name: field.name, why: 'is required' });
      continue;
    }
    const read = readField(field, text);
    if ('why' in read) issues.push({ name: field.name, why: read.why });
    // A member may be called __proto__.
    else Object.defineProperty(value, field.name, { value: read.value, enumerable: true });
  }
  return issues.length > 0 ? { kind: 'issues', issues } : { kind: 'value', value };
}

function readField(
  { kind, choices }: Field,
  text: string,
): { readonly value: unknown } | { readonly why: string } {
  switch (kind) {
    case 'text':
      return { value: text };
    case 'number':
    case 'integer': {
      const number = text.trim() === '' ? Number.NaN : Number(text);
      if (!Number.isFinite(number)) return { why: 'must be a number' };
      return kind === 'integer' && !Number.isInteger(number)
        ? { why: 'must be a whole number' }
        : { value: number };
    }
    case 'boolean':
      return { value: text === 'true' };
    case 'choice':
      return choices.includes(text) ? { value: JSON.parse(text) } : { why: 'must be one of the choices' };
    case 'json':
      try {
        return { value: JSON.parse(text) };
      } catch {
        return { why: 'must be JSON' };
      }
  }
}

function kindOf({ type }: Schema): FieldKind {
  switch (type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    default:
      return 'json';
  }
}

/** Choices as JSON, so that the text `1` and the number 1 differ. */
function choicesOf({ enum: values, const: only }: Schema): readonly string[] {
  if (only !== undefined) return [JSON.stringify(only)];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : [];
}

function typedOf(value: unknown, kind: FieldKind): string {
  if (value === undefined) return '';
  return kind === 'text' && typeof value === 'string' ? value : JSON.stringify(value);
}

function firstOf(values: unknown): unknown {
  return Array.isArray(values) ? values[0] : undefined;
}
