/** The result of a review, with its sign-off if there was one. */
import type { Approved } from 'cairn';
import { code, type ReviewSummary } from './summary.ts';

export type SignedReview = ReviewSummary & {
  /** Absent if the review needed none. */
  readonly signOff?: Approved;
};

export function signed(summary: ReviewSummary, signOff: Approved | undefined): SignedReview {
  if (!signOff) return summary;
  const who = signOff.by === undefined ? '' : ` by ${code(signOff.by)}`;
  const waiver = signOff.decision === 'approve_with_waiver' ? ', with a waiver' : '';
  const note = signOff.note === undefined ? '' : `: ${code(signOff.note)}`;
  return { ...summary, markdown: `${summary.markdown}\n**Signed off**${who}${waiver}${note}\n`, signOff };
}
