/**
 * A problem as found: its code, its document, its evidence, and whether `repair` can fix it.
 *
 * Must not: define the problems; see problem-table.ts.
 */
import type { Json } from '../encoding/json.ts';
import { PROBLEMS, type ProblemSeverity } from './problem-table.ts';

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** Facts that show the problem: ids, numbers and names of members. Never a value of a user, which may be a secret. */
export type Evidence = Readonly<Record<string, Json>>;

export interface ConsistencyProblem {
  readonly code: ProblemCode;
  readonly severity: ProblemSeverity;
  /** True if `repair` can fix it. */
  readonly healable: boolean;
  /** Path of the document below the run: `run`, `events/0000000007`, `steps/verdict`. */
  readonly subject: string;
  readonly evidence: Evidence;
}

/** A problem that `repair` can fix. */
export function healable(code: ProblemCode, subject: string, evidence: Evidence = {}): ConsistencyProblem {
  return { code, severity: PROBLEMS[code].severity, healable: true, subject, evidence };
}

/** A problem that a person must fix. */
export function unhealable(code: ProblemCode, subject: string, evidence: Evidence = {}): ConsistencyProblem {
  return { ...healable(code, subject, evidence), healable: false };
}

/** Returns true if the problem makes the source of all repairs unreliable. */
export function isBlocking({ code }: Pick<ConsistencyProblem, 'code'>): boolean {
  return PROBLEMS[code].blocks;
}
