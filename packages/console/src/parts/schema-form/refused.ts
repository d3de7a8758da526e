/** Refusals of a value by the API, at the fields of its form. Pure. */
import { ApiError } from '../../api/problem.ts';
import type { Field, FieldIssue, Typed } from './fields.ts';

/** The form that the refused value was entered in. */
interface RefusedForm {
  readonly fields: readonly Field[];
  /** The only field holds the whole value: the detail of the refusal is `data: Too small`. */
  readonly isAlone: boolean;
}

export interface RefusedEntry {
  /** As it was sent. */
  readonly typed: Typed;
  readonly issues: readonly FieldIssue[];
}

/**
 * The detail of such a refusal is `input.amount: Too small; input.lines[2].name: …`: a path and a reason each.
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
    // The path of a member within the field stays: it says which.
    const after = text.slice(field.name.length);
    return [{ name: field.name, why: after.startsWith(': ') ? after.slice(2) : after.replace(/^\./, '') }];
  });
}

/** A refused member of a request that has a field of its own. */
export interface RefusedMember {
  readonly name: string;
  readonly sent: string;
  /** With advice. */
  readonly why: string;
}

/** @param sent the members with fields, as they were sent */
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

/** Those of fields that say what was refused. */
export function stillRefused(refused: RefusedEntry | undefined, typed: Typed): readonly FieldIssue[] {
  return refused?.issues.filter(({ name }) => refused.typed[name] === typed[name]) ?? [];
}
