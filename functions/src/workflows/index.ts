/** The shipped workflows. New workflows and new versions are added only here. */
import type { Workflow } from 'cairn';
import type { DeployTarget } from './deploy/target.ts';
import { deployWithSlack } from './deploy/with-slack.ts';
import { deployTo } from './deploy/workflow.ts';
import type { Janitor } from './nightly-cleanup/janitor.ts';
import { nightlyCleanupBy } from './nightly-cleanup/workflow.ts';
import { reviewPullRequest1 } from './review-pull-request/earlier/version-1.ts';
import { reviewPullRequest2 } from './review-pull-request/earlier/version-2.ts';
import { reviewPullRequestThat } from './review-pull-request/workflow.ts';

/** Targets that an installation provides. Workflows without a target are always installed. */
export interface Outside {
  readonly deployTarget?: DeployTarget;
  readonly janitor?: Janitor;
  /** Target of reviews; `isThere` is called when a run reaches the step. */
  readonly github?: { readonly isThere: () => boolean };
  /** True if deployments can be started and answered in Slack. */
  readonly slack?: boolean;
}

export function shippedWorkflows({ deployTarget, janitor, github, slack }: Outside): readonly Workflow[] {
  return [
    reviewPullRequest1,
    reviewPullRequest2,
    ...(github ? [reviewPullRequestThat(() => github.isThere())] : []),
    ...(deployTarget ? [deployTo(deployTarget)] : []),
    ...(deployTarget && slack ? [deployWithSlack(deployTarget)] : []),
    ...(janitor ? [nightlyCleanupBy(janitor)] : []),
  ];
}

/** Workflows without external receivers. */
export const workflows: readonly Workflow[] = shippedWorkflows({});
