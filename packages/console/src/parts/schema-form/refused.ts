/** Assigns the API's refusals of a value to the fields of its form. Pure. */
import { ApiError } from '../../api/problem.ts';
import type { Field, FieldIssue, Typed } from './fields.ts';

/** The form that the refused value was entered in. */
interface RefusedForm {
  readonly fields: readonly Field[];
  /** True if the only field holds the whole value, so that a refusal reads `data: Too small`. */
  readonly isAlone: boolean;
}

export interface RefusedEntry {
  /** The typed text that was sent. */
  readonly typed: Typed;
  readonly issues: readonly FieldIssue[];
}

/**
 * Parses the detail of a refusal, which lists paths and reasons: `input.amount: Too small; input.lines[2].name: …`.
 *
 * @param root member of the request that the form fills
 */
export function refusedAt(
  error: unknown,
  root: string,
  { fields, isAlone }: RefusedForm,
): readonly FieldIssue[] {
  if (!(error instanceof ApiError) || error.problem.code !== 'INVALID_INPUT') return [];
  const { detail = '' } = error.problem;
  if (isAlone) {
    if (!detail.startsWith(`${root}: `)) return [];
    return fields.map(({ name }) => ({ name, why: detail.slice(root.length + 2) }));
  }
  const messages = detail.split(`; ${root}.`);
  const [first = '', ...rest] = messages;
  if (!first.startsWith(`${root}.`)) return [];
  return [first.slice(root.length + 1), ...rest].flatMap((text): FieldIssue[] => {
    const field = fields
      .filter(({ name }) => text.startsWith(name) && /^[.:[]/.test(text.slice(name.length)))
      .toSorted((a, b) => b.name.length - a.name.length)[0];
    if (field === undefined) return [];
    // The path within the field is kept, because it names the member.
    const after = text.slice(field.name.length);
    return [{ name: field.name, why: after.startsWith(': ') ? after.slice(2) : after.replace(/^\./, '') }];
  });
}

/** A refused member of a request that has a field of its own. */
export interface RefusedMember {
  readonly name: string;
  readonly sent: string;
  /** The reason with advice. */
  readonly why: string;
}

/** @param sent the sent texts of the members that have fields */
export function memberRefused(
  error: unknown,
  sent: Readonly<Record<string, string>>,
): RefusedMember | undefined {
  if (!(error instanceof ApiError) || error.problem.code !== 'INVALID_INPUT') return undefined;
  const { field: name = '', detail = '', help } = error.problem;
  const text = sent[name];
  if (text === undefined) return undefined;
  return { name, sent: text, why: help === undefined ? detail : `${detail}. ${help}` };
}

/** The refusals of fields whose text has not changed since. */
export function stillRefused(refused: RefusedEntry | undefined, typed: Typed): readonly FieldIssue[] {
  return refused?.issues.filter(({ name }) => refused.typed[name] === typed[name]) ?? [];
}
