/**
 * Reviews a pull request from its input: size, risk, labels, reviewers, and findings about each
 * changed file. If there are concerns, a person signs off the review before it is posted as a comment, labels and a commit
 * status.
 */

import { defineWorkflow, type Workflow } from 'cairn';
import { addLabels, createComment, removeLabel, setCommitStatus } from 'cairn/github';
import { REVIEWED } from './event.ts';
import { reviewFile } from './file-review.ts';
import { suggestLabels } from './labels.ts';
import { commentOn, labelChanges, mustRelabel, statusOf } from './posting.ts';
import { ReviewRequest } from './request.ts';
import { whoMustLook } from './reviewers.ts';
import { assessRisk } from './risk.ts';
import { signed } from './sign-off.ts';
import { measureSize } from './size.ts';
import { type ReviewSummary, summarise } from './summary.ts';
import { judge, needsSignOff } from './verdict.ts';

/** Retries are long enough for GitHub's limits and outages, because the review itself is already done. */
const PATIENCE = { maxAttempts: 8, initialMs: 2_000, capMs: 120_000 } as const;

/** @param posts returns whether a token for GitHub is configured; called when a run reaches the step */
export function reviewPullRequestThat(posts: () => boolean): Workflow {
  const toBePosted = ({ input }: { readonly input: ReviewRequest }) => input.post && posts();
  return defineWorkflow({
    type: 'review-pull-request',
    planVersion: 3,
    input: ReviewRequest,
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
      const summary = step(
        'summarise',
        { needs: { size, risk, labels, reviewers, files, verdict } },
        (found) => summarise({ ...found, event: found.input, review: found.reviewers }),
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
      const comment = step(
        'post-comment',
        { needs: { review }, when: toBePosted, retry: PATIENCE, uses: [createComment] },
        ({ input, review, perform }) => perform(createComment, commentOn(input, review)),
      );
      step(
        'put-labels',
        {
          needs: { labels, review },
          when: ({ input, labels }) => toBePosted({ input }) && mustRelabel(labels),
          retry: PATIENCE,
          uses: [addLabels, removeLabel],
        },
        async ({ input, labels, perform }) => {
          const { add, remove } = labelChanges(input, labels);
          if (add) await perform(addLabels, add);
          for (const one of remove) await perform(removeLabel, one, { key: one.label });
          return labels;
        },
      );
      const status = step(
        'set-status',
        { needs: { review, verdict, comment }, retry: PATIENCE, uses: [setCommitStatus] },
        async ({ input, review, verdict, comment, perform }) => {
          const request = statusOf(input, { review, verdict, commentUrl: comment.url });
          await perform(setCommitStatus, request);
          return request.state;
        },
      );
      return { review, comment, status };
    },
  });
}
