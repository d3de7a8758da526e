/** The input of a person for a schema, in a form or as JSON, and its value. Pure. */
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
  /** Absent: the initial values. */
  readonly typed?: Typed | undefined;
  /** Absent: the JSON of the form. */
  readonly text?: string | undefined;
  readonly wantsJson: boolean;
  /** The form and the text when one was last made of the other. The one that is unchanged since comes back whole, with what does not fit the other. */
  readonly alike?: Pick<Entered, 'typed' | 'text'> | undefined;
}

export const NOTHING_ENTERED: Entered = { wantsJson: false };

interface EnteredForm {
  /** Empty if the schema has no form. */
  readonly fields: readonly Field[];
  /** True if the value is not an object, and the only field holds all of it. */
  readonly isAlone: boolean;
  readonly isForm: boolean;
  readonly typed: Typed;
  readonly jsonText: string;
  readonly issues: readonly FieldIssue[];
  /** Absent while it cannot be sent. */
  readonly value?: unknown;
  readonly hasValue: boolean;
}

/** Name of the only field of a schema that is not an object. */
const ALONE = 'data';

/** @param begin initial value; default: that of the schema */
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

/** Limit of the issues that are named; the others are counted. */
const MAX_NAMED = 4;

/** The reason why the form cannot be sent. Undefined also for invalid JSON, whose field shows the error itself. */
export function lackOf({ isForm, issues }: Pick<EnteredForm, 'isForm' | 'issues'>): string | undefined {
  if (!isForm || issues.length === 0) return undefined;
  const named = issues.slice(0, MAX_NAMED).map(({ name, why }) => `${visibleText(name)} ${why}`);
  const others = issues.length - named.length;
  return `${named.join('; ')}${others > 0 ? `; and ${others} more` : ''}.`;
}

/** True if nothing was entered, so that the initial value is unchanged. */
export function isUntouched({ typed, text }: Entered): boolean {
  return typed === undefined && text === undefined;
}

/** Switches from the form to JSON. Fields with issues are left out of the text. */
export function asJson({ issues, fields, typed }: EnteredForm, schema: unknown, entered: Entered): Entered {
  if (isUntouched(entered)) return { ...entered, wantsJson: true };
  if (entered.alike && entered.alike.typed === entered.typed) return { ...entered, wantsJson: true };
  const valid = fields.filter((field) => issues.every(({ name }) => name !== field.name));
  const form = formValue(valid, typed);
  const members = form.kind === 'value' ? form.value : {};
  const value = formOf(schema).isAlone && valid.length > 0 ? members[ALONE] : members;
  const text = escapedJson(value);
  return { ...entered, text, wantsJson: true, alike: { typed: entered.typed, text } };
}

/** Switches from JSON to the form. A text that does not fit the form leaves the form unchanged. */
export function asForm({ fields, jsonText }: EnteredForm, schema: unknown, entered: Entered): Entered {
  if (isUntouched(entered)) return { ...entered, wantsJson: false };
  if (entered.alike && entered.alike.text === entered.text) return { ...entered, wantsJson: false };
  const json = readJson(jsonText);
  const value = json.kind === 'value' ? json.value : undefined;
  const back = typedFrom(fields, formOf(schema).isAlone ? { [ALONE]: value } : value);
  const typed = back ?? entered.typed;
  return { ...entered, typed, wantsJson: false, alike: { typed, text: entered.text } };
}

/** Fills in examples. Undefined if nothing is empty or no example exists. Form fields keep their values; a JSON text is replaced. */
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
  // A form of JSON fields only would have no advantage over one JSON text.
  const isAlone = alone.some(({ kind }) => kind !== 'json');
  return { fields: isAlone ? alone : [], isAlone };
}
