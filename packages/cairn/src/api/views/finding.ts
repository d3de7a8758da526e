/** The problem that keeps a run from making progress, and what to do about it. */
import { findingCode } from '../../core/findings.ts';
import { PROBLEMS } from '../../core/integrity/problem-table.ts';
import { iso } from '../../core/run/readable.ts';
import type { RunFinding } from '../../ports/diagnosis/findings.ts';
import type { View } from './run.ts';

export function findingView({ reason, message, stepId, since, lastAt }: RunFinding): View {
  const code = findingCode(reason);
  const { title, help } = PROBLEMS[code];
  return { code, title, reason, message, stepId, since: iso(since), lastAt: iso(lastAt), help };
}

export function listedFinding(finding: RunFinding): View {
  const { runId, type } = finding;
  return { runId, type, ...findingView(finding) };
}
