/**
 * Verdict from the findings, and whether it needs a sign-off.
 *
 * Must not: find anything itself (see risk.ts, file-review.ts).
 */
import type { FileReview, FindingSeverity } from './file-review.ts';
import type { ReviewRequest2 } from './request.ts';
import type { Risk } from './risk.ts';
import { isDraft } from './signals.ts';

export type Verdict = {
  readonly call: 'go ahead' | 'look closely' | 'do not merge';
  readonly because: readonly string[];
  /** Files whose changes were read. The payload of a webhook has none. */
  readonly filesRead: number;
  /** Feedback given when the verdict was sent back. */
  readonly remark?: string;
};

/** Reasons shown; the report has all findings. */
const MAX_REASONS = 10;

interface ReviewEvidence {
  readonly risk: Risk;
  readonly files: readonly FileReview[];
  readonly remark: string | undefined;
}

export function judge({ risk, files, remark }: ReviewEvidence): Verdict {
  const problems = found(files, 'problem');
  const warnings = found(files, 'warning');
  const isRisky = risk.level === 'high';
  const because = [
    ...problems,
    ...(isRisky ? risk.reasons.map(({ because }) => because) : []),
    ...warnings,
  ].slice(0, MAX_REASONS);
  return {
    call: problems.length > 0 ? 'do not merge' : isRisky || warnings.length > 0 ? 'look closely' : 'go ahead',
    because,
    filesRead: files.length,
    ...(remark === undefined ? {} : { remark }),
  };
}

/** A draft needs no sign-off. */
export function needsSignOff(request: ReviewRequest2, { call }: Verdict): boolean {
  if (request.signOff === 'never') return false;
  if (request.signOff === 'always') return true;
  return call !== 'go ahead' && !isDraft(request);
}

function found(files: readonly FileReview[], severity: FindingSeverity): string[] {
  return files.flatMap(({ filename, findings }) =>
    findings
      .filter((finding) => finding.severity === severity)
      .map(({ what, line }) => `${filename}${line === undefined ? '' : `:${line}`}: ${what}`),
  );
}
