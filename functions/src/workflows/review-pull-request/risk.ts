/**
 * Owns the risk of a change and its reasons. Every point has a reason that a person can check.
 *
 * Must not: extract the facts (see signals.ts) or decide the consequences of the level.
 */
import type { PullRequestEvent } from './event.ts';
import {
  hasDescription,
  isBreaking,
  isFromFork,
  isNewcomer,
  isReleaseBranch,
  sensitiveWord,
} from './signals.ts';
import type { PullRequestSize } from './size.ts';

type RiskLevel = 'low' | 'medium' | 'high';

type RiskReason = { readonly points: number; readonly because: string };

export type Risk = {
  readonly level: RiskLevel;
  /** Sum of the points. */
  readonly score: number;
  /** Highest number of points first. */
  readonly reasons: readonly RiskReason[];
};

/** Lowest score of this level. */
const MEDIUM_FROM = 2;
const HIGH_FROM = 5;

export function assessRisk(event: PullRequestEvent, size: PullRequestSize): Risk {
  const conflicting = event.pull_request.mergeable_state === 'dirty';
  const word = sensitiveWord(event);
  const reasons = [
    reason(isBreaking(event), 4, 'it is marked as a breaking change'),
    reason(word !== undefined, 3, `it is about "${word ?? ''}"`),
    reason(isReleaseBranch(event), 2, 'it goes straight to a release branch'),
    reason(size.bucket === 'XL', 3, `it is very large: ${size.changedLines} lines in ${size.files} files`),
    reason(size.bucket === 'L', 2, `it is large: ${size.changedLines} lines in ${size.files} files`),
    reason(isNewcomer(event), 2, 'it is the first contribution of its author'),
    reason(isFromFork(event), 1, 'it comes from a fork'),
    reason(conflicting, 1, 'it conflicts with its base branch'),
    reason(!hasDescription(event), 1, 'it has no description'),
  ]
    .filter((each) => each !== undefined)
    .sort((a, b) => b.points - a.points);
  const score = reasons.reduce((sum, { points }) => sum + points, 0);
  return { level: levelOf(score), score, reasons };
}

function reason(holds: boolean, points: number, because: string): RiskReason | undefined {
  return holds ? { points, because } : undefined;
}

function levelOf(score: number): RiskLevel {
  if (score >= HIGH_FROM) return 'high';
  return score >= MEDIUM_FROM ? 'medium' : 'low';
}
