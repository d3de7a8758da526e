/**
 * Truncates issues of a schema validation for a response or a journal, because member names and messages of authors can have any
 * length.
 */
import { cut } from './run/records.ts';

/** An issue as schema libraries report it. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

interface FirstIssue {
  /** Path of the field, with dots; empty for the whole value. */
  readonly field: string;
  readonly why: string;
}

const FIELD_CHARS = 100;
const WHY_CHARS = 500;

/** Most issues of one value listed in an error; the others are counted. */
const MAX_ISSUES = 10;

export function allIssues(issues: readonly Issue[], within?: string): FirstIssue {
  const named = issues.slice(0, MAX_ISSUES).map((issue) => firstIssue([issue], within));
  const more = issues.length - named.length;
  const texts = named.map(({ field, why }) => `${field}: ${why}`);
  const why = [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return { field: named[0]?.field ?? within ?? '', why };
}

/** @param within name of the checked value; it begins the field */
export function firstIssue(issues: readonly Issue[], within?: string): FirstIssue {
  const [issue] = issues;
  const path = [...(within === undefined ? [] : [within]), ...(issue?.path ?? [])];
  return {
    field: cut(path.map(String).join('.').toWellFormed(), FIELD_CHARS),
    why: cut(String(issue?.message ?? 'invalid value').toWellFormed(), WHY_CHARS),
  };
}
