/**
 * The second plan of the review, which posts nothing. It stays registered, because runs are pinned to the version they began
 * with. New runs use the plan of workflow.ts.
 */
import { defineWorkflow } from 'cairn';
import { REVIEWED } from '../event.ts';
import { reviewFile } from '../file-review.ts';
import { suggestLabels } from '../labels.ts';
import { ReviewRequest2 } from '../request.ts';
import { whoMustLook } from '../reviewers.ts';
import { assessRisk } from '../risk.ts';
import { signed } from '../sign-off.ts';
import { measureSize } from '../size.ts';
import { type ReviewSummary, summarise } from '../summary.ts';
import { judge, needsSignOff } from '../verdict.ts';

export const reviewPullRequest2 = defineWorkflow({
  type: 'review-pull-request',
  planVersion: 2,
  input: ReviewRequest2,
  on: { github: REVIEWED },
  steps(step) {
    const size = step('measure-size', ({ input }) => measureSize(input));
    const risk = step('assess-risk', { needs: { size } }, ({ input, size }) => assessRisk(input, size));
    const labels = step('suggest-labels', { needs: { size } }, ({ input, size }) =>
      suggestLabels(input, size),
    );
    const reviewers = step('find-reviewers', { needs: { size } }, ({ input, size }) =>
      whoMustLook(input, size),
    );
    const files = step.map('review-file', { over: ({ input }) => input.files }, ({ item }) =>
      reviewFile(item),
    );
    const verdict = step('verdict', { needs: { risk, files } }, ({ risk, files, feedback }) =>
      judge({ risk, files, remark: feedback }),
    );
    const summary = step('summarise', { needs: { size, risk, labels, reviewers, files, verdict } }, (found) =>
      summarise({ ...found, event: found.input, review: found.reviewers }),
    );
    const signOff = step.approval('sign-off', {
      needs: { verdict, summary },
      when: ({ input, verdict }) => needsSignOff(input, verdict),
      ask: ({ input, verdict, summary }) => ({
        question: `Sign off the review: ${verdict.call}? ${summary.headline}`,
        details: { url: input.pull_request.html_url, verdict },
      }),
      timeout: '24h',
      escalate: { after: '4h', text: 'The author has been waiting for half a working day.' },
    });
    const review = step(
      'conclude',
      { needs: { summary, signOff }, ifSkipped: 'run' },
      // Only the sign-off can be absent.
      ({ summary, signOff }) => signed(summary as ReviewSummary, signOff),
    );
    return { review };
  },
});
