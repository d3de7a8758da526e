/**
 * Owns the form of a review at GitHub: a comment, labels, and the status of the commit.
 *
 * Must not: send anything; it only builds requests.
 */
import { MAX_COMMENT_CHARS, MAX_DESCRIPTION_CHARS } from 'cairn/github';
import { beginning, type PullRequestEvent } from './event.ts';
import type { LabelAdvice } from './labels.ts';
import type { SignedReview } from './sign-off.ts';
import type { Verdict } from './verdict.ts';

/** Name by which a rule of the repository can require the status. */
const STATUS_CONTEXT = 'cairn/review';

interface PullRequestPlace {
  readonly repository: string;
  readonly number: number;
}

function placeOf({ repository, pull_request: { number } }: PullRequestEvent): PullRequestPlace {
  return { repository: repository.full_name, number };
}

export function commentOn(event: PullRequestEvent, { markdown }: SignedReview) {
  return { ...placeOf(event), body: beginning(markdown, MAX_COMMENT_CHARS) };
}

export function mustRelabel({ add, remove }: LabelAdvice): boolean {
  return add.length + remove.length > 0;
}

export function labelChanges(event: PullRequestEvent, { add, remove }: LabelAdvice) {
  const place = placeOf(event);
  return {
    ...(add.length > 0 ? { add: { ...place, labels: [...add] } } : {}),
    remove: remove.map((label) => ({ ...place, label })),
  };
}

interface PostedReview {
  readonly review: SignedReview;
  readonly verdict: Verdict;
  /** URL of the complete comment. */
  readonly commentUrl: string;
}

/** A problem fails the commit, unless a person has waived it. Lesser findings are only in the comment. */
export function statusOf(event: PullRequestEvent, { review, verdict, commentUrl }: PostedReview) {
  const { signOff } = review;
  const isWaived = signOff?.decision === 'approve_with_waiver';
  const isFailed = verdict.call === 'do not merge' && !isWaived;
  const [first] = verdict.because;
  const signed = isWaived ? ' (waived)' : signOff === undefined ? '' : ' (signed off)';
  return {
    repository: event.repository.full_name,
    sha: event.pull_request.head.sha,
    context: STATUS_CONTEXT,
    state: isFailed ? ('failure' as const) : ('success' as const),
    description: beginning(
      `${verdict.call}${signed}${first === undefined ? '' : `: ${first}`}`,
      MAX_DESCRIPTION_CHARS,
    ),
    targetUrl: commentUrl,
  };
}
