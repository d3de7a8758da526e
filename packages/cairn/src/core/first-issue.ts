/**
 * First issue of a schema validation, in a form that fits a response or a journal. Member names and messages of authors
 * can have any length.
 */
import { cut } from './run/records.ts';

/** As a schema library tells it. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export interface Refusal {
  /** Where, with dots; empty if it is the whole. */
  readonly field: string;
  readonly why: string;
}

const FIELD_CHARS = 100;
const WHY_CHARS = 500;

/** @param within what the checked value is called where it is told; its name begins the field */
export function firstIssue(issues: readonly Issue[], within?: string): Refusal {
  const [issue] = issues;
  const path = [...(within === undefined ? [] : [within]), ...(issue?.path ?? [])];
  return {
    field: cut(path.map(String).join('.').toWellFormed(), FIELD_CHARS),
    why: cut(String(issue?.message ?? 'invalid value').toWellFormed(), WHY_CHARS),
  };
}
