/** Reviews a pull request from its webhook payload alone: how big, how risky, which labels, who must look. */
import { defineWorkflow } from '../../engine/define/workflow.ts';
import { PullRequestEvent } from './event.ts';
import { suggestLabels } from './labels.ts';
import { whoMustLook } from './reviewers.ts';
import { assessRisk } from './risk.ts';
import { measureSize } from './size.ts';
import { summarise } from './summary.ts';

/** What changes what a reviewer would see; a closed or merely relabelled pull request needs no new review. */
const ACTIONS = ['opened', 'reopened', 'synchronize', 'ready_for_review', 'edited'] as const;

export const reviewPullRequest = defineWorkflow({
  type: 'review-pull-request',
  planVersion: 1,
  input: PullRequestEvent,
  on: { github: { event: 'pull_request', actions: ACTIONS } },
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
