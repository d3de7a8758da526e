/**
 * Owns the findings about one changed file.
 *
 * Must not: quote a secret that it found, or weigh findings of several files against
 * each other (see verdict.ts).
 */
import { addedLines } from './patch.ts';
import type { ChangedFile } from './request.ts';

/** `problem`: must not be merged. `warning`: needs a check. `note`: informational. */
export type FindingSeverity = 'problem' | 'warning' | 'note';

export type ReviewFinding = {
  readonly severity: FindingSeverity;
  readonly what: string;
  /** Line in the new version of the file; absent for the whole file. */
  readonly line?: number;
};

export type FileReview = {
  readonly filename: string;
  /** The worst first, at most {@link MAX_FINDINGS}. */
  readonly findings: readonly ReviewFinding[];
};

/** Nobody would read more. */
export const MAX_FINDINGS = 20;
/** About as much as a reviewer can read in one sitting. */
const LARGE_ADDITIONS = 500;

const SEVERITIES: readonly FindingSeverity[] = ['problem', 'warning', 'note'];
const TEST_FILE = /(?:^|\/)(?:tests?|__tests__|spec)\/|[._-](?:test|spec)\.[^/]+$/i;

interface LineRule {
  readonly severity: FindingSeverity;
  readonly what: string;
  readonly pattern: RegExp;
  readonly only?: RegExp;
}

const LINE_RULES: readonly LineRule[] = [
  {
    severity: 'problem',
    what: 'contains a conflict marker',
    pattern: /^(?:<{7}|>{7})(?: |$)/,
  },
  {
    severity: 'problem',
    what: 'looks like a private key',
    pattern: /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/,
  },
  {
    severity: 'problem',
    what: 'looks like an access token',
    pattern: /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|xox[abprs]-[A-Za-z0-9-]{10,})/,
  },
  {
    severity: 'warning',
    what: 'runs only this test',
    pattern: /\b(?:describe|it|test)\.only\(|^\s*f(?:describe|it)\(/,
    only: TEST_FILE,
  },
  { severity: 'warning', what: 'contains a breakpoint', pattern: /^\s*(?:debugger;?|breakpoint\(\))\s*$/ },
];

interface FileRule {
  readonly severity: FindingSeverity;
  readonly what: string;
  readonly holds: (file: ChangedFile) => boolean;
}

const FILE_RULES: readonly FileRule[] = [
  {
    severity: 'warning',
    what: 'changes the permissions of the CI',
    holds: ({ filename }) => /^\.github\/(?:workflows|actions)\/|(?:^|\/)\.gitlab-ci\.yml$/.test(filename),
  },
  {
    severity: 'warning',
    what: 'a test is removed',
    holds: ({ filename, status }) => status === 'removed' && TEST_FILE.test(filename),
  },
  {
    severity: 'warning',
    what: 'changes the format of stored data',
    holds: ({ filename }) => /(?:^|\/)migrations?\//i.test(filename),
  },
  {
    severity: 'note',
    what: 'large change',
    holds: ({ additions, patch }) => patch !== undefined && additions > LARGE_ADDITIONS,
  },
  {
    severity: 'note',
    what: 'GitHub provides no diff: the file is binary or very large',
    holds: ({ status, patch, additions, deletions }) =>
      patch === undefined && status !== 'removed' && (status !== 'renamed' || additions + deletions > 0),
  },
];

export function reviewFile(file: ChangedFile): FileReview {
  const ofFile = FILE_RULES.filter(({ holds }) => holds(file)).map(({ severity, what }) => ({
    severity,
    what,
  }));
  const ofLines = addedLines(file.patch ?? '').flatMap(({ line, text }) =>
    LINE_RULES.filter(({ pattern, only }) => pattern.test(text) && (only?.test(file.filename) ?? true)).map(
      ({ severity, what }) => ({ severity, what, line }),
    ),
  );
  const rank = ({ severity }: ReviewFinding) => SEVERITIES.indexOf(severity);
  const findings = [...ofFile, ...ofLines].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS);
  return { filename: file.filename, findings };
}
