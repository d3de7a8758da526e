/**
 * The first plan of the review. It stays registered, because runs are pinned to the version they began with. New runs use
 * the plan of workflow.ts.
 */
import { defineWorkflow } from 'cairn';
import { PullRequestEvent } from '../event.ts';
import { suggestLabels } from '../labels.ts';
import { whoMustLook } from '../reviewers.ts';
import { assessRisk } from '../risk.ts';
import { measureSize } from '../size.ts';
import { summarise } from '../summary.ts';

export const reviewPullRequest1 = defineWorkflow({
  type: 'review-pull-request',
  planVersion: 1,
  input: PullRequestEvent,
  steps(step) {
    const size = step('measure-size', ({ input }) => measureSize(input));
    const risk = step('assess-risk', { needs: { size } }, ({ input, size }) => assessRisk(input, size));
    const labels = step('suggest-labels', { needs: { size } }, ({ input, size }) =>
      suggestLabels(input, size),
    );
    const reviewers = step('find-reviewers', { needs: { size } }, ({ input, size }) =>
      whoMustLook(input, size),
    );
    const review = step('summarise', { needs: { size, risk, labels, reviewers } }, (found) =>
      summarise({ ...found, event: found.input, review: found.reviewers }),
    );
    return { review };
  },
});
