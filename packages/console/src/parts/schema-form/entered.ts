/** The entries of a person for a schema, in a form or as JSON, and their value. Pure. */
import { exampleOf } from '@cairn/client';
import { readJson } from '../json-view/json-text.ts';
import { escapedJson, visibleText } from '../visible-text.ts';
import {
  type Field,
  type FieldIssue,
  fieldsOf,
  formValue,
  initialOf,
  type Typed,
  typedFrom,
  withExamples,
} from './fields.ts';

export interface Entered {
  /** Absent: as the form began. */
  readonly typed?: Typed | undefined;
  /** Absent: what the form says, as JSON. */
  readonly text?: string | undefined;
  readonly wantsJson: boolean;
}

export const NOTHING_ENTERED: Entered = { wantsJson: false };

interface EnteredForm {
  /** None: the schema has no form. */
  readonly fields: readonly Field[];
  /** The value is no object, and the only field holds all of it. */
  readonly isAlone: boolean;
  readonly isForm: boolean;
  readonly typed: Typed;
  readonly jsonText: string;
  readonly issues: readonly FieldIssue[];
  /** Absent: it cannot be sent yet. */
  readonly value?: unknown;
  readonly hasValue: boolean;
}

/** Name of the only field of a schema that is no object. */
const ALONE = 'data';

/** @param begin the value to begin with; absent: what the schema says */
export function readEntered(schema: unknown, entered: Entered, begin?: unknown): EnteredForm {
  const { fields, isAlone } = formOf(schema);
  const begun =
    begin === undefined ? initialOf(fields) : typedFrom(fields, isAlone ? { [ALONE]: begin } : begin);
  const hasForm = fields.length > 0 && begun !== undefined;
  const isForm = hasForm && !entered.wantsJson;
  const typed = entered.typed ?? begun ?? {};
  const form = formValue(fields, typed);
  const filled = form.kind === 'value' ? (isAlone ? form.value[ALONE] : form.value) : undefined;
  const jsonText = entered.text ?? escapedJson(begin ?? filled ?? {});
  const json = readJson(jsonText);
  const read = isForm ? form : json;
  const value = isForm ? filled : json.kind === 'value' ? json.value : undefined;
  return {
    fields: hasForm ? fields : [],
    isAlone,
    isForm,
    typed,
    jsonText,
    issues: form.kind === 'issues' ? form.issues : [],
    hasValue: read.kind === 'value',
    value,
  };
}

/** Issues that are named; the others are counted. */
const MAX_NAMED = 4;

/** The reason why the form cannot be sent; undefined: none, or a text that is no JSON, which says so at its field. */
export function lackOf({ isForm, issues }: Pick<EnteredForm, 'isForm' | 'issues'>): string | undefined {
  if (!isForm || issues.length === 0) return undefined;
  const named = issues.slice(0, MAX_NAMED).map(({ name, why }) => `${visibleText(name)} ${why}`);
  const others = issues.length - named.length;
  return `${named.join('; ')}${others > 0 ? `; and ${others} more` : ''}.`;
}

/** True if nothing was entered: the value with which the form began is as it was. */
export function isUntouched({ typed, text }: Entered): boolean {
  return typed === undefined && text === undefined;
}

/** The same as JSON. What does not fit the form yet is left to the text. */
export function asJson({ issues, fields, typed }: EnteredForm, schema: unknown, entered: Entered): Entered {
  if (issues.length > 0 || isUntouched(entered)) return { ...entered, wantsJson: true };
  const form = formValue(fields, typed);
  const value = form.kind === 'value' ? (formOf(schema).isAlone ? form.value[ALONE] : form.value) : {};
  return { ...entered, text: escapedJson(value), wantsJson: true };
}

/** The same in the form. A text that has no form leaves the form as it was. */
export function asForm({ fields, jsonText }: EnteredForm, schema: unknown, entered: Entered): Entered {
  if (isUntouched(entered)) return { ...entered, wantsJson: false };
  const json = readJson(jsonText);
  const value = json.kind === 'value' ? json.value : undefined;
  const back = typedFrom(fields, formOf(schema).isAlone ? { [ALONE]: value } : value);
  return { ...entered, ...(back ? { typed: back } : {}), wantsJson: false };
}

/** Undefined: there is nothing to fill, or no example of it. What is entered stays, except in a text, which is replaced. */
export function withExample(
  { isForm, fields, typed }: EnteredForm,
  schema: unknown,
  entered: Entered,
): Entered | undefined {
  if (isForm) {
    const filled = withExamples(fields, typed);
    return fields.some(({ name }) => filled[name] !== typed[name])
      ? { ...entered, typed: filled }
      : undefined;
  }
  const example = exampleOf(schema);
  return example === undefined ? undefined : { ...entered, text: escapedJson(example) };
}

function formOf(schema: unknown): { readonly fields: readonly Field[]; readonly isAlone: boolean } {
  const fields = fieldsOf(schema);
  if (fields) return { fields, isAlone: false };
  const alone =
    fieldsOf({ type: 'object', properties: { [ALONE]: schema }, required: [ALONE] }, schema) ?? [];
  // Fields for JSON alone would be no more than JSON.
  const isAlone = alone.some(({ kind }) => kind !== 'json');
  return { fields: isAlone ? alone : [], isAlone };
}
